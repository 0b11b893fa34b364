import t, { type Test } from 'tap';
import { openFileChecker } from '../../../../src/catalogue/schemas/ajv.ts';
import type { Adapter } from '../../../../src/upstream/adapter.ts';
import { teeOpenai } from '../../../../src/upstream/providers/tee/adapter.ts';
import { INTEL_SGX_ROOT_CA } from '../../../../src/upstream/providers/tee/intel-root.ts';
import { type AdapterCase, adapterContract, openSetting, problemOf } from '../contract.ts';
import { recorded } from '../recorded.ts';

const adapter: Adapter = teeOpenai;
const hex = { type: 'string', pattern: '^[0-9a-f]{64}$' };

const caseOf = (settings: object, options: Record<string, unknown> = {}): AdapterCase => ({
  adapter,
  upstream: {
    keys: { key: 'TEE_API_KEY' },
    models: { enclosed: { id: 'maker/enclosed-1' } },
    settings: { ...settings },
  },
  model: 'enclosed',
  options,
  input: { prompt: 'Why is the sky blue?', system_prompt: 'Be brief.' },
  refusal: 'content-refused',
  result: {
    type: 'object',
    required: ['text', 'model', 'verified', 'usage', 'proof', 'metadata'],
    properties: {
      text: { type: 'string', minLength: 1 },
      model: { const: 'enclosed' },
      verified: { const: true },
      usage: { required: ['prompt_tokens', 'completion_tokens', 'total_tokens'] },
      proof: {
        required: ['receipt_id', 'attested', 'tee_key', 'request_hash', 'response_hash', 'explorer_url', 'verify_url'],
        properties: {
          attested: { const: true },
          request_hash: hex,
          response_hash: hex,
          explorer_url: { type: 'null' },
          verify_url: { type: 'string', pattern: '^http' },
        },
      },
      metadata: {
        required: ['checks', 'attestation', 'finish_reason'],
        properties: {
          checks: {
            properties: {
              quote_signature: { const: 'ok' },
              certificate_chain: { const: 'ok' },
              answer_signature: { const: 'ok' },
              collateral: { const: 'unchecked' },
              measurement: { const: 'unchecked' },
            },
          },
          attestation: { properties: { tee: { const: 'tdx' }, nonce: hex, quote_verified: { const: true } } },
        },
      },
    },
  },
});

const aci = caseOf({ proof: 'aci' });
const signature = caseOf({ proof: 'signature' });
adapterContract(t, 'a text with an ACI receipt', aci);
adapterContract(t, 'a text with a signed pair of hashes', signature);

interface Verified {
  text: string;
  verified: boolean;
  proof: { attested: boolean; tee_key: string; receipt_id: string; explorer_url: string | null; signed: object };
  metadata: { reason?: string; faults?: string[]; attestation: { nonce: string } };
}

async function open(t: Test, adapterCase: AdapterCase) {
  const setting = await openSetting(t, adapterCase);
  const call = async (input: object = {}) =>
    (await adapter.call({ prompt: 'Why?', ...input }, setting.binding, setting.context)) as Verified;
  return { ...setting, call };
}

for (const [name, adapterCase] of Object.entries({ aci, signature })) {
  t.test(`a forged proof fails the call (${name})`, async (t) => {
    const { call, doubles } = await open(t, adapterCase);
    doubles.fault('the-upstream', 'forge', 1);
    t.match(await problemOf(call()), { failure: 'malformed', message: /proof of an answer does not hold/ });
    t.match(await call({ prompt: 'And now?' }), { verified: true, metadata: { reason: undefined } });
  });

  t.test(`an endpoint can have a forged proof shown for what it is (${name})`, async (t) => {
    const { call, doubles } = await open(t, caseOf({ proof: name }, { unverified: 'answer' }));
    doubles.fault('the-upstream', 'forge', 1);
    t.match(await call(), {
      text: /.+/,
      verified: false,
      proof: { attested: name === 'aci' },
      metadata: {
        reason: name === 'aci' ? 'the signature is forged' : /no report vouches/,
        checks: name === 'aci' ? { answer_signature: 'failed', quote_signature: 'ok' } : { report: 'failed' },
      },
    });
  });

  t.test(`hardware that the platform's root does not vouch for proves nothing (${name})`, async (t) => {
    for (const unverified of ['fail', 'answer']) {
      const { binding, context } = await open(t, caseOf({ proof: name }, { unverified }));
      const call = adapter.call({ prompt: 'Why?' }, binding, { ...context, attestationRoot: INTEL_SGX_ROOT_CA });
      if (unverified === 'fail') {
        t.match(await problemOf(call), { failure: 'malformed', message: /do not lead to the trusted root/ });
      } else {
        t.match(await call, {
          verified: false,
          proof: { attested: false },
          metadata: {
            checks: { certificate_chain: 'failed', answer_signature: 'ok' },
            attestation: { quote_verified: false, root: 'Intel SGX Root CA' },
          },
        });
      }
    }
  });

  t.test(`only the environments that the settings name may answer (${name})`, async (t) => {
    const measurements = [{ mr_td: 'ab'.repeat(48), rtmr3: '01'.repeat(48) }, { mr_td: 'cd'.repeat(48) }];
    const { call, binding, context } = await open(t, caseOf({ proof: name, measurements }));
    t.match(await call(), {
      verified: true,
      metadata: {
        checks: { measurement: 'ok' },
        attestation: { measurements: { mr_td: 'ab'.repeat(48), rtmr3: '01'.repeat(48) } },
      },
    });
    for (const foreign of [{ mr_td: 'ab'.repeat(48), rtmr3: '02'.repeat(48) }, { mr_td: 'cd'.repeat(48) }]) {
      const settings = { ...binding.settings, measurements: [foreign] };
      const refused = adapter.call({ prompt: 'Why?' }, { ...binding, settings }, context);
      t.match(await problemOf(refused), { failure: 'malformed', message: /runs something else/ });
    }
  });

  t.test(`a proof can be shown on a chain where the operator says how (${name})`, async (t) => {
    const explorerUrl = 'https://scan.example/{receipt_id}?key={tee_key}';
    const { proof } = await (await open(t, caseOf({ proof: name, explorerUrl }))).call();
    t.equal(proof.explorer_url, `https://scan.example/${proof.receipt_id}?key=${proof.tee_key}`);
  });
}

t.test('an ACI report is asked for once in a while, each time with a nonce of its own', async (t) => {
  const { call, binding } = await open(t, aci);
  const [one, other] = [await call({ prompt: 'One' }), await call({ prompt: 'Two' })];
  t.equal(one.metadata.attestation.nonce, other.metadata.attestation.nonce);
  const { context } = await openSetting(t, aci);
  const later = (await adapter.call({ prompt: 'Three' }, binding, context)) as Verified;
  t.not(later.metadata.attestation.nonce, one.metadata.attestation.nonce);
});

t.test('a report of another node is not taken for that of the node which answered', async (t) => {
  const [{ binding, context }, other] = [await openSetting(t, aci), await openSetting(t, aci)];
  let asked = 0;
  const http = {
    ...binding.http,
    request(request: Parameters<typeof binding.http.request>[0]) {
      if (request.path !== '/aci/attestation') return binding.http.request(request);
      asked += 1;
      return (asked === 1 ? other : { binding }).binding.http.request(request);
    },
  };
  for (const prompt of ['Why?', 'And now?']) {
    t.match(await adapter.call({ prompt }, { ...binding, http }, context), { verified: true });
  }
  t.equal(asked, 2, 'and the right one is kept');
});

t.test('a keyset that expires while its report is kept vouches for nothing any more', async (t) => {
  const { binding, context } = await openSetting(t, aci);
  t.match(await adapter.call({ prompt: 'Why?' }, binding, context), { verified: true });
  const cache: typeof context.cache = {
    ...context.cache,
    async through(...args: Parameters<typeof context.cache.through>) {
      const found = await context.cache.through(...args);
      return { ...found, value: { ...(found.value as object), endsAt: context.now() } };
    },
  } as typeof context.cache;
  const late = adapter.call({ prompt: 'And now?' }, binding, { ...context, cache });
  t.match(await problemOf(late), { failure: 'malformed', message: /the keyset has expired/ });
});

t.test('asks an ACI host to refuse rather than answer from somewhere unverified', async (t) => {
  const { binding: own, context } = await openSetting(t, aci);
  const { binding, sent } = recorded(own);
  await adapter.call({ prompt: 'Why?' }, binding, { ...context, terms: { maxOutputTokens: 7 } });
  t.match(sent, [{ provider: { aci_verified: true }, max_tokens: 7 }]);
});

t.test('an answer without any proof is a failure', async (t) => {
  const { binding, context } = await openSetting(t, aci);
  const http = {
    ...binding.http,
    request: (request: Parameters<typeof binding.http.request>[0]) =>
      binding.http.request({ ...request, path: request.path.replace('/aci/receipts/', '/aci/receipts/lost-') }),
  };
  const call = adapter.call({ prompt: 'Why?' }, { ...binding, http }, context);
  t.match(await problemOf(call), { failure: 'failed', message: /no proof/ });
});

t.test('measurements that no quote could have are refused with the catalogue', async (t) => {
  const ajv = openFileChecker();
  const fits = (measurements: unknown) =>
    ajv.validate({ ...adapter.upstreamOptions }, { proof: 'aci', measurements }) as boolean;
  t.ok(fits([{ mr_td: 'ab'.repeat(48) }]));
  for (const wrong of [
    [],
    [{}],
    [{ mr_td: 'AB'.repeat(48) }],
    [{ mr_td: 'ab' }],
    [{ rtmr4: 'ab'.repeat(48) }],
    'any',
  ]) {
    t.notOk(fits(wrong), JSON.stringify(wrong));
  }
});

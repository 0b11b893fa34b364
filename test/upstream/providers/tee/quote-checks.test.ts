import { X509Certificate } from 'node:crypto';
import t from 'tap';
import { openTdxHardware, type QuoteRequest } from '../../../../src/sandbox/doubles/tdx-hardware.ts';
import { faultsOf } from '../../../../src/upstream/providers/tee/checks.ts';
import { INTEL_SGX_ROOT_CA } from '../../../../src/upstream/providers/tee/intel-root.ts';
import { checkedQuote } from '../../../../src/upstream/providers/tee/quote-checks.ts';
import { INTEL_QUOTE, INTEL_QUOTE_AT, INTEL_QUOTE_BINDS } from './intel-quote.ts';
import { NOW } from './samples.ts';

const hardware = openTdxHardware(NOW);
const reportData = 'ef'.repeat(64);
const quoteOf = (request: Partial<QuoteRequest> = {}) => hardware.quote({ reportData, ...request });
const check = (
  quote: unknown,
  { root = hardware.root, now = NOW, measurements = undefined as object[] | undefined } = {},
) => checkedQuote(quote, reportData, { trust: { root, measurements }, now });

t.test('a quote whose every signature leads to the root holds, and says what was not checked', async (t) => {
  for (const version of [4, 5] as const) {
    t.same(check(quoteOf({ version })).checks, {
      report_data: 'ok',
      certificate_chain: 'ok',
      quoting_enclave: 'ok',
      attestation_key: 'ok',
      quote_signature: 'ok',
      production_mode: 'ok',
      measurement: 'unchecked',
      collateral: 'unchecked',
    });
  }
});

t.test('a quote of genuine hardware leads to the root that comes with the gateway, and to no other', async (t) => {
  const checkAgainst = (root: string, binds = INTEL_QUOTE_BINDS) =>
    checkedQuote(INTEL_QUOTE, binds, { trust: { root, measurements: undefined }, now: INTEL_QUOTE_AT }).checks;
  t.same(faultsOf(checkAgainst(INTEL_SGX_ROOT_CA)), []);
  t.match(checkAgainst(hardware.root), { certificate_chain: { fault: /do not lead to the trusted root/ } });
  t.match(checkAgainst(INTEL_SGX_ROOT_CA, reportData), { report_data: { fault: String } });
});

t.test('quotes are read in hex and in base64', async (t) => {
  const quote = quoteOf();
  for (const written of [quote, `0x${quote}`, Buffer.from(quote, 'hex').toString('base64')]) {
    t.same(faultsOf(check(written).checks), []);
  }
});

t.test('a quote that is changed anywhere does not hold', async (t) => {
  for (const version of [4, 5] as const) {
    const genuine = Buffer.from(quoteOf({ version }), 'hex');
    // Up to the certificates and their size: those have a test of their own.
    const end = genuine.indexOf('-----BEGIN') - 4;
    const unnoticed: number[] = [];
    for (let at = version; at < end; at += 5) {
      const changed = Buffer.from(genuine);
      changed[at] = (changed[at] ?? 0) ^ 1;
      if (faultsOf(check(changed.toString('hex')).checks).length === 0) unnoticed.push(at);
    }
    t.same(unnoticed, [], `version ${version}`);
  }
});

t.test('a quote of a machine that nobody vouches for does not hold', async (t) => {
  const stranger = openTdxHardware(NOW);
  const { checks } = check(stranger.quote({ reportData }));
  t.match(checks, { certificate_chain: { fault: /do not lead to the trusted root/ }, quote_signature: 'ok' });
  t.match(check(quoteOf(), { root: INTEL_SGX_ROOT_CA }).checks.certificate_chain, { fault: String });
});

t.test('a stranger who adds the trusted root to a chain of his own gains nothing', async (t) => {
  const [stranger, trusted] = [openTdxHardware(NOW), hardware].map((machine) => {
    const quote = Buffer.from(machine.quote({ reportData }), 'hex');
    return {
      quote,
      root: Buffer.from(machine.root),
      withoutRoot: quote.subarray(0, quote.length - machine.root.length),
    };
  });
  if (!stranger || !trusted) throw new Error('no quotes');
  const forged = Buffer.concat([stranger.withoutRoot, trusted.root]);
  const start = forged.indexOf('-----BEGIN');
  // The sizes of the signature data, of the certification in it, and of the chain in that (version 4).
  for (const at of [632, 632 + 4 + 128 + 2, start - 4]) {
    forged.writeUInt32LE(forged.readUInt32LE(at) + forged.length - stranger.quote.length, at);
  }
  const { checks } = check(forged.toString('hex'));
  t.match(checks, { quote_signature: 'ok', certificate_chain: { fault: /do not lead/ } });
});

t.test('an enclave of somebody else may not vouch for a key, nor an environment be open to its host', async (t) => {
  t.match(check(quoteOf({ enclaveSigner: '11'.repeat(32) })).checks, { quoting_enclave: { fault: /quoting enclave/ } });
  t.match(check(quoteOf({ isDebug: true })).checks, {
    quote_signature: 'ok',
    production_mode: { fault: /debug mode/ },
  });
});

t.test('certificates are good for their time', async (t) => {
  const decade = 10 * 365 * 86_400_000;
  for (const now of [NOW - decade, NOW + decade]) {
    t.match(check(quoteOf(), { now }).checks.certificate_chain, { fault: String });
  }
});

t.test('every measurement of one of the known environments has to be the same', async (t) => {
  const [a, b] = ['aa'.repeat(48), 'bb'.repeat(48)];
  const quote = quoteOf({ measurements: { mr_td: a, rtmr3: b } });
  const measured = (...measurements: object[]) => check(quote, { measurements }).checks.measurement;
  t.equal(measured({ mr_td: a }), 'ok');
  t.equal(measured({ mr_td: b }, { mr_td: a, rtmr3: b }), 'ok');
  t.match(measured({ mr_td: a, rtmr3: a }), { fault: /something else/ });
  t.match(measured({ mr_td: b }, { rtmr3: a }), { fault: /something else/ });
});

t.test('what is no quote of TDX is none', async (t) => {
  const quote = quoteOf();
  const sgx = `${quote.slice(0, 8)}00${quote.slice(10)}`;
  for (const given of [7, null, '', 'AAAA', 'not a quote', quote.slice(0, 1400), `03${quote.slice(2)}`, sgx]) {
    t.same(check(given), { checks: { quote: { fault: 'the report has no TDX quote' } }, measurements: null });
  }
});

t.test('the root in live mode is the one that Intel publishes', async (t) => {
  const root = new X509Certificate(INTEL_SGX_ROOT_CA);
  t.match(root.subject, /^CN=Intel SGX Root CA$/m);
  t.ok(root.ca && root.checkIssued(root) && root.verify(root.publicKey));
  // Its key, as Intel's attestation libraries and the contracts that verify quotes on chains pin it.
  const { x, y } = root.publicKey.export({ format: 'jwk' });
  t.equal(
    Buffer.from(String(x), 'base64url').toString('hex'),
    '0ba9c4c0c0c86193a3fe23d6b02cda10a8bbd4e88e48b4458561a36e705525f5',
  );
  t.equal(
    Buffer.from(String(y), 'base64url').toString('hex'),
    '67918e2edc88e40d860bd0cc4ee26aacc988e505a953558c453f6b0904ae7394',
  );
});

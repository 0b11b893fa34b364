import { createPrivateKey, sign } from 'node:crypto';
import t from 'tap';
import { checkReceipt, readReport } from '../../../../src/upstream/providers/tee/aci.ts';
import { canonicalJson } from '../../../../src/upstream/providers/tee/canonical-json.ts';
import { faultsOf as faultsIn } from '../../../../src/upstream/providers/tee/checks.ts';
import { sha256 } from '../../../../src/upstream/providers/tee/proof.ts';
import { answerOf, NOW, quoteOf, trust } from './samples.ts';

/** The key pair of RFC 8032, section 7.1, test 1. */
const SEED = '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60';
const PUBLIC = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a';
const privateKey = createPrivateKey({
  key: Buffer.from(`302e020100300506032b657004220420${SEED}`, 'hex'),
  format: 'der',
  type: 'pkcs8',
});

const NONCE = 'ab'.repeat(32);
const answer = answerOf('{"model":"m"}', '{"id":"chat-1"}');

const keyset = {
  subject: null,
  not_after: NOW / 1000 + 60,
  receipt_signing_keys: [{ key_id: 'k1', algo: 'ed25519', public_key: PUBLIC }],
  e2ee_public_keys: [],
  tls_public_keys: [],
};
const digest = `sha256:${sha256(canonicalJson(keyset))}`;
const boundTo = (nonce: string) =>
  sha256(`{"keyset_digest":"${digest}","nonce":"${nonce}","purpose":"aci.report_data.v1"}`);

const report = {
  api_version: 'aci/1',
  workload_keyset_digest: digest,
  attestation: {
    tee_type: 'tdx',
    workload_keyset: keyset,
    report_data: boundTo(NONCE),
    evidence: { quote: quoteOf(boundTo(NONCE).padEnd(128, '0')) },
  },
  service_capabilities: { serving: 'aggregator' },
};

const unsigned = {
  api_version: 'aci/1',
  receipt_id: 'r1',
  workload_keyset_digest: digest,
  event_log: [
    { type: 'request.received', body_hash: `sha256:${sha256(answer.response.sent)}` },
    { type: 'upstream.verified', result: 'verified', session_id: 'x' },
    { type: 'response.returned', body_hash: `sha256:${sha256(answer.response.body)}` },
  ],
  key_id: 'k1',
};
const signed = (document: object): Record<string, unknown> => ({
  ...document,
  signature: sign(null, Buffer.from(canonicalJson(document)), privateKey).toString('hex'),
});
const place = { receiptId: 'r1', verifyUrl: 'https://tee.example/v1/aci/receipts/r1' };
const faultsOf = (receipt: Record<string, unknown>, from: object = report) =>
  faultsIn(checkReceipt(receipt, readReport(from, { nonce: NONCE, trust, now: NOW }), answer, place).checks);

t.test('canonical JSON is that of RFC 8785', async (t) => {
  t.equal(
    canonicalJson({ b: [1, 2.5e21, 'é"\n'], a: { z: null, Z: true }, '€': 0 }),
    '{"a":{"Z":true,"z":null},"b":[1,2.5e+21,"é\\"\\n"],"€":0}',
  );
});

t.test('a receipt over these very bytes, signed by a key that the report lists, holds', async (t) => {
  const proof = checkReceipt(signed(unsigned), readReport(report, { nonce: NONCE, trust, now: NOW }), answer, place);
  t.same(faultsIn(proof.checks), []);
  t.equal(proof.teeKey, PUBLIC);
  t.equal(proof.requestHash, sha256(answer.response.sent));
  t.equal(proof.responseHash, sha256(answer.response.body));
});

t.test('whatever is changed in a receipt shows', async (t) => {
  const [received, verified, returned] = unsigned.event_log;
  const other = `sha256:${sha256('other bytes')}`;
  const swapped = { ...unsigned, event_log: [{ ...received, body_hash: other }, verified, returned] };
  const spoken = { ...unsigned, event_log: [received, verified, { ...returned, body_hash: other }] };
  t.same(faultsOf({ ...signed(unsigned), receipt_id: 'r2' }), ['the signature is forged']);
  t.same(faultsOf({ ...signed(unsigned), signature: '00'.repeat(64) }), ['the signature is forged']);
  t.same(faultsOf({ ...unsigned }), ['the signature is forged']);
  t.same(faultsOf(signed({ ...unsigned, key_id: 'k2' })), ['the signature is forged'], 'a key that is not listed');
  t.same(faultsOf(signed(swapped)), ['the receipt is for another request']);
  t.same(faultsOf(signed(spoken)), ['the receipt is for another answer']);
  t.same(faultsOf(signed({ ...unsigned, workload_keyset_digest: other })), ['the receipt is of another keyset']);
  t.match(faultsOf(signed({ ...unsigned, event_log: [received, returned] })), [/not verified/]);
  const failed = { ...verified, result: 'failed' };
  t.match(faultsOf(signed({ ...unsigned, event_log: [received, failed, returned] })), [/not verified/]);
  t.ok(faultsOf({}).length > 3);
});

t.test('a host that serves the models itself names no environment behind it', async (t) => {
  const [received, , returned] = unsigned.event_log;
  const direct = { ...report, service_capabilities: { serving: 'direct' } };
  t.same(faultsOf(signed({ ...unsigned, event_log: [received, returned] }), direct), []);
});

t.test('an environment that a receipt names has to be verified, whatever the report says of its host', async (t) => {
  const [received, verified, returned] = unsigned.event_log;
  const failed = { ...verified, result: 'failed' };
  for (const serving of ['direct', 'aggregator']) {
    const from = { ...report, service_capabilities: { serving } };
    for (const [events, isGood] of [
      [[verified], true],
      [[failed, verified], true],
      [[{ ...failed, required: false }], false],
      [[verified, failed], false],
      [[{ ...verified, required: false }], false],
      [[{ ...verified, session_id: undefined }], false],
    ] as const) {
      const faults = faultsOf(signed({ ...unsigned, event_log: [received, ...events, returned] }), from);
      t.same(faults, isGood ? [] : ['the answer came from an environment that was not verified']);
    }
  }
});

t.test('a report vouches for its keys only where the quote binds them to the nonce', async (t) => {
  const fault = (change: object, nonce = NONCE, now = NOW) =>
    faultsIn(
      readReport({ ...report, attestation: { ...report.attestation, ...change } }, { nonce, trust, now }).attestation
        .checks,
    )[0];
  t.equal(fault({}), undefined);
  t.match(fault({}, 'cd'.repeat(32)), /does not bind its keys to the nonce/);
  t.match(fault({ evidence: { quote: quoteOf('00'.repeat(64)) } }), /does not bind the signing key to the nonce/);
  t.match(
    fault({ evidence: { quote: quoteOf(boundTo('cd'.repeat(32)).padEnd(128, '0')) } }),
    /does not bind the signing key to the nonce/,
  );
  t.match(fault({ evidence: {} }), /no TDX quote/);
  t.match(fault({ evidence: { quote: 'AAAA' } }), /no TDX quote/);
  const foreign = { ...keyset, receipt_signing_keys: [{ key_id: 'k1', algo: 'ed25519', public_key: 'ff'.repeat(32) }] };
  t.match(fault({ workload_keyset: foreign }), /does not bind its keys/);
  t.match(fault({}, NONCE, NOW + 61_000), /expired/);
  t.ok(faultsIn(readReport(null, { nonce: NONCE, trust, now: NOW }).attestation.checks).length > 0);
});

t.test('the published vectors of ACI come out (spec/test-vectors.md, sections 1, 2 and 4)', async (t) => {
  const vectorNonce = '000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f';
  const vectorDigest = 'sha256:53a5cd44b30dcc51999754c719f2628a041f174ecbf9662a6f8e898a10cd9371';
  const reportData = 'df2174d28130852b413646a3786927b93e94c11d770268b65def8bdba45cb49e';
  const workload_keyset = {
    subject: 'dstack-app://example-app',
    not_after: 1_800_000_000,
    receipt_signing_keys: [
      {
        key_id: 'receipt-1',
        algo: 'ed25519',
        public_key: '8139770ea87d175f56a35466c34c7ecccb8d8a91b4ee37a25df60f5b8fc9b394',
      },
    ],
    e2ee_public_keys: [
      {
        key_id: 'e2ee-1',
        algo: 'x25519-aes-256-gcm-hkdf-sha256',
        public_key: '5dfedd3b6bd47f6fa28ee15d969d5bb0ea53774d488bdaf9df1c6e0124b3ef22',
      },
    ],
    tls_public_keys: [{ spki_sha256: 'c0'.repeat(32), domain: 'api.example.com' }],
  };
  const evidence = { quote: quoteOf(reportData.padEnd(128, '0')) };
  const vectorReport = {
    api_version: 'aci/1',
    workload_keyset_digest: vectorDigest,
    attestation: { tee_type: 'tdx', workload_keyset, report_data: reportData, evidence },
  };
  const read = readReport(vectorReport, { nonce: vectorNonce, trust, now: NOW });
  t.same(faultsIn(read.attestation.checks), []);

  const vectorAnswer = answerOf(
    '{"messages":[{"content":"hi","role":"user"}],"model":"demo-model"}',
    '{"choices":[],"id":"chatcmpl-123"}',
  );
  const sent = 'sha256:94d809bf47380d8a2eab0eb6e126d4dda9364b0b4725cdf7ead52dd70b2aa87b';
  const receipt = {
    api_version: 'aci/1',
    receipt_id: 'rcpt-0001',
    chat_id: 'chatcmpl-123',
    model: 'demo-model',
    workload_keyset_digest: vectorDigest,
    endpoint: '/v1/chat/completions',
    method: 'POST',
    served_at: 1_750_000_000,
    event_log: [
      { type: 'request.received', body_hash: sent },
      { type: 'request.forwarded', body_hash: sent },
      {
        type: 'upstream.verified',
        result: 'verified',
        required: true,
        model_id: 'demo-model',
        session_id: '95ad1cb4dd25445808c2e9d116caf420b05703730b506395e8fc1ca6faeae28f',
      },
      {
        type: 'response.returned',
        body_hash: 'sha256:dedfffe5b14d031b8e2c01996d021a15293cb7c63b56be7e4be9e89b6f0a5f61',
      },
    ],
    key_id: 'receipt-1',
    signature:
      'd5b005e093bde3b577faf270b7184b09e169cacb0ecb206b103bd2581f997db0' +
      '3da616175454b063323a23ac1dc68f1ce506c2a6eba8aa0561d5e724f0b80c03',
  };
  t.same(faultsIn(checkReceipt(receipt, read, vectorAnswer, place).checks), []);
  t.same(faultsIn(checkReceipt({ ...receipt, served_at: 1_750_000_001 }, read, vectorAnswer, place).checks), [
    'the signature is forged',
  ]);
});

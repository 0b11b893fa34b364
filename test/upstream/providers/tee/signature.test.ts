import t from 'tap';
import { privateKeyToAccount } from 'viem/accounts';
import { sha256 } from '../../../../src/upstream/providers/tee/proof.ts';
import { checkSignature, readSignerReport } from '../../../../src/upstream/providers/tee/signature.ts';
import { reportDataOf } from '../../../../src/upstream/providers/tee/tdx-quote.ts';
import { answerOf, quoteOf } from './samples.ts';

const account = privateKeyToAccount(`0x${'11'.repeat(32)}`);
const stranger = privateKeyToAccount(`0x${'22'.repeat(32)}`);
const address = account.address.toLowerCase();
const nonce = 'ab'.repeat(32);
const now = Date.parse('2026-01-05T15:30:00Z');
const answer = answerOf('{"model":"m"}', '{"id":"chat-1"}');
const hashes = `${sha256(answer.response.sent)}:${sha256(answer.response.body)}`;
const place = { receiptId: 'chat-1', verifyUrl: 'https://tee.example/v1/signature/chat-1' };

const bound = (signer: string, to = nonce) => quoteOf(signer.slice(2).toLowerCase().padEnd(64, '0') + to);
const report = { signing_address: account.address, intel_quote: bound(account.address) };
const attested = (from: unknown) => readSignerReport(from, { address, nonce, now });

async function signedBy(signer: typeof account, text: string, claimed = signer.address) {
  return { text, signature: await signer.signMessage({ message: text }), signing_address: claimed };
}
const faultsOf = async (signed: Record<string, unknown>) =>
  (await checkSignature(signed, attested(report), answer, place)).faults;

t.test('a signature over these very bytes holds, with and without the model in its text', async (t) => {
  t.same(await faultsOf(await signedBy(account, hashes)), []);
  t.same(await faultsOf(await signedBy(account, `maker/model:1:${hashes}`)), []);
  const proof = await checkSignature(await signedBy(account, hashes), attested(report), answer, place);
  t.equal(proof.teeKey, address);
  t.equal(proof.responseHash, sha256(answer.response.body));
});

t.test('whatever is changed shows', async (t) => {
  const [request, response] = hashes.split(':');
  t.same(await faultsOf(await signedBy(stranger, hashes, account.address)), ['the signature is forged']);
  const good = await signedBy(account, hashes);
  t.match(await faultsOf({ ...good, text: `${hashes} ` }), ['the signature is forged', /request/, /answer/]);
  t.same(await faultsOf({ ...good, signature: '0x00' }), ['the signature is forged']);
  t.same(await faultsOf({ ...good, signature: `0x${'00'.repeat(65)}` }), ['the signature is forged']);
  t.match(await faultsOf(await signedBy(account, `${sha256('x')}:${response}`)), [/another request/]);
  t.match(await faultsOf(await signedBy(account, `${request}:${sha256('x')}`)), [/another answer/]);
  t.ok((await faultsOf({})).length >= 3);
});

t.test('a report vouches for an address only where its quote binds it to the nonce', async (t) => {
  t.equal(attested(report).fault, undefined);
  t.equal(attested({ model_attestations: [{ signing_address: stranger.address }, report] }).fault, undefined);
  t.equal(attested({ all_attestations: [report] }).fault, undefined);
  t.match(attested({ ...report, signing_address: stranger.address }).fault, /no report vouches/);
  t.match(attested({ ...report, intel_quote: bound(stranger.address) }).fault, /does not bind/);
  t.match(attested({ ...report, intel_quote: bound(address, 'cd'.repeat(32)) }).fault, /does not bind/);
  t.match(attested({ ...report, intel_quote: undefined }).fault, /no TDX quote/);
  t.match(attested(null).fault, /no report vouches/);
});

t.test('report data is read from quotes of both versions, in hex and base64', async (t) => {
  const data = 'ef'.repeat(64);
  for (const version of [4, 5] as const) {
    const quote = quoteOf(data, version);
    t.equal(reportDataOf(quote), data);
    t.equal(reportDataOf(`0x${quote}`), data);
    t.equal(reportDataOf(Buffer.from(quote, 'hex').toString('base64')), data);
  }
  t.equal(reportDataOf(quoteOf(data).slice(0, 400)), undefined);
  t.equal(reportDataOf(`03${quoteOf(data).slice(2)}`), undefined, 'a quote of version 3');
  t.equal(reportDataOf(7), undefined);
});

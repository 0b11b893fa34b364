import t from 'tap';
import { privateKeyToAccount } from 'viem/accounts';
import { faultsOf as faultsIn } from '../../../../src/upstream/providers/tee/checks.ts';
import { sha256 } from '../../../../src/upstream/providers/tee/proof.ts';
import { checkSignature, readSignerReport } from '../../../../src/upstream/providers/tee/signature.ts';
import { answerOf, NOW as now, quoteOf, trust } from './samples.ts';

const account = privateKeyToAccount(`0x${'11'.repeat(32)}`);
const stranger = privateKeyToAccount(`0x${'22'.repeat(32)}`);
const address = account.address.toLowerCase();
const nonce = 'ab'.repeat(32);
const answer = answerOf('{"model":"m"}', '{"id":"chat-1"}');
const hashes = `${sha256(answer.response.sent)}:${sha256(answer.response.body)}`;
const place = { receiptId: 'chat-1', verifyUrl: 'https://tee.example/v1/signature/chat-1' };

const bound = (signer: string, to = nonce) => quoteOf(signer.slice(2).toLowerCase().padEnd(64, '0') + to);
const report = { signing_address: account.address, intel_quote: bound(account.address) };
const attested = (from: unknown) => readSignerReport(from, { address, nonce, trust, now });
const faultOf = (from: unknown) => faultsIn(attested(from).checks)[0];

async function signedBy(signer: typeof account, text: string, claimed = signer.address) {
  return { text, signature: await signer.signMessage({ message: text }), signing_address: claimed };
}
const faultsOf = async (signed: Record<string, unknown>) =>
  faultsIn((await checkSignature(signed, attested(report), answer, place)).checks);

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
  t.equal(faultOf(report), undefined);
  t.equal(faultOf({ model_attestations: [{ signing_address: stranger.address }, report] }), undefined);
  t.equal(faultOf({ all_attestations: [report] }), undefined);
  t.match(faultOf({ ...report, signing_address: stranger.address }), /no report vouches/);
  t.match(faultOf({ ...report, intel_quote: bound(stranger.address) }), /does not bind/);
  t.match(faultOf({ ...report, intel_quote: bound(address, 'cd'.repeat(32)) }), /does not bind/);
  t.match(faultOf({ ...report, intel_quote: undefined }), /no TDX quote/);
  t.match(faultOf(null), /no report vouches/);
});

/** The double of an attested host, looked at by clients that know nothing of it. */
import { createHash } from 'node:crypto';
import OpenAI from 'openai';
import t from 'tap';
import { recoverMessageAddress } from 'viem';
import type { Upstream } from '../../../src/catalogue/types.ts';
import { sandboxSecret, startDoubles } from '../../../src/sandbox/doubles/index.ts';

const model = 'maker/enclosed-1';
const upstream: Upstream = {
  name: 'tee',
  adapter: 'tee-openai',
  baseUrl: 'https://tee.example/v1',
  models: { enclosed: { id: model } },
};
const doubles = await startDoubles({ upstreams: [upstream] });
t.teardown(() => doubles.close());
const base = doubles.baseUrlOf('tee');
const apiKey = sandboxSecret('TEE_API_KEY');
const headers = { authorization: `Bearer ${apiKey}` };
const read = async (path: string, init: RequestInit = { headers }) => {
  const answer = await fetch(base + path, init);
  return { status: answer.status, body: (await answer.json()) as Record<string, string> };
};

const client = new OpenAI({ apiKey, baseURL: base, maxRetries: 0 });
const messages = [{ role: 'user' as const, content: 'Hello' }];
const { data, response } = await client.chat.completions.create({ model, messages }).withResponse();

t.test('the official client gets its completion, with the id of a receipt', async (t) => {
  t.match(data, { object: 'chat.completion', choices: [{ message: { content: /Hello/ } }] });
  const receiptId = response.headers.get('x-receipt-id');
  t.match(response.headers.get('x-aci-keyset-digest'), /^sha256:[0-9a-f]{64}$/);
  t.match(await read(`/aci/receipts/${receiptId}`), { status: 200, body: { receipt_id: receiptId, chat_id: data.id } });
  t.match(await read(`/aci/receipts/${data.id}`), { status: 200, body: { receipt_id: receiptId } });
});

t.test('a signed answer names the exact bytes, and its signer', async (t) => {
  const sent = JSON.stringify({ model, messages: [{ role: 'user', content: 'What was said?' }] });
  const answer = await fetch(`${base}/chat/completions`, { method: 'POST', headers, body: sent });
  const said = await answer.text();
  const { body } = await read(`/signature/${JSON.parse(said).id}?model=${model}&signing_algo=ecdsa`);
  const { text = '', signature, signing_address } = body;
  const sha256 = (bytes: string) => createHash('sha256').update(bytes).digest('hex');
  t.equal(text, `${model}:${sha256(sent)}:${sha256(said)}`);
  t.equal(await recoverMessageAddress({ message: text, signature: signature as `0x${string}` }), signing_address);
  const nonce = 'ab'.repeat(32);
  const report = await read(`/attestation/report?model=${model}&nonce=${nonce}`, {});
  t.match(report.body, { signing_address, signing_algo: 'ecdsa', intel_quote: new RegExp(nonce) });
});

t.test('receipts belong to a key, reports are public and want a proper nonce', async (t) => {
  t.equal((await read(`/aci/receipts/${data.id}`, {})).status, 401);
  t.match(await read('/aci/receipts/rcpt-unknown'), { status: 404, body: { error: { type: 'not_found' } } });
  t.match(await read('/signature/unknown'), { status: 404 });
  t.match(await read('/aci/attestation', {}), { status: 200, body: { api_version: 'aci/1' } });
  t.match(await read('/aci/attestation?nonce=short', {}), { status: 400 });
});

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openWallet } from '../../../src/rails/x402/payer.ts';
import { type Gateway, type PaidCall, request, sendProof, signProof } from '../../clients.ts';
import { copySelling } from '../../few-endpoints.ts';
import { startGateway } from '../../gateway.ts';
import { callTool } from '../../mcp/tool-client.ts';

/** Signed as the challenge of a call asks, but for its amount: nothing. */
async function signNothing({ state }: Gateway, { url, init }: PaidCall): Promise<Record<string, string>> {
  const wallet = await openWallet(state, state.evm['chain-c']?.caip2);
  const unpaid = await fetch(url, init);
  const asked = wallet.getPaymentRequiredResponse((name) => unpaid.headers.get(name), await unpaid.json());
  const accepts = asked.accepts.map((offer) => ({ ...offer, amount: '0' }));
  return wallet.encodePaymentSignatureHeader(await wallet.createPaymentPayload({ ...asked, accepts }));
}

/** A picture in 1k for nothing. `edit` changes the endpoint's file. */
async function open(t: Test) {
  const directory = mkdtempSync(join(tmpdir(), 'turnpike-free-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const catalogue = join(directory, 'catalogue');
  copySelling(['image/family-e-2'], catalogue);
  const file = join(catalogue, 'endpoints/image/family-e-2.yaml');
  const edit = (from: string, to: string) => {
    const text = readFileSync(file, 'utf8');
    if (!text.includes(from)) throw new Error(`the endpoint has no ${from}`);
    writeFileSync(file, text.replace(from, to));
  };
  edit('1k: "0.06"', '1k: "0"');
  edit('price:', 'free: true\nprice:');
  const gateway = await startGateway({ catalogue, networks: ['chain-c'] });
  t.teardown(gateway.stop);
  const picture = (resolution: string) => request(gateway, '/image/family-e-2', { prompt: 'a lighthouse', resolution });
  return { gateway, edit, picture };
}

t.test('what costs nothing is answered without a payment, and only that', async (t) => {
  const { gateway, picture } = await open(t);
  const free = picture('1k');
  const answer = await fetch(free.url, free.init);
  t.equal(answer.status, 200);
  t.match(await answer.json(), { image_url: /^http/ });
  t.equal(answer.headers.get('payment-response'), null);
  t.match(await gateway.calls(), { upstreamCalls: 1, settlementCount: 0 });

  const sold = picture('2k');
  t.equal((await fetch(sold.url, sold.init)).status, 402);
});

for (const [what, from, to, status, told] of [
  ['is taken out of sale', 'free: true', 'free: true\nenabled: false', 404, { error: { code: 'unknown_path' } }],
  ['is priced', '1k: "0"', '1k: "0.06"', 402, { accepts: [{ amount: '60000' }] }],
] as const) {
  t.test(`what cost nothing and ${what} is not given any more, whatever looks like a payment`, async (t) => {
    const { gateway, edit, picture } = await open(t);
    const free = picture('1k');
    t.equal((await fetch(free.url, free.init)).status, 200);
    const sold = picture('2k');
    const paid = await signProof(gateway, 'chain-c', sold);
    t.equal((await sendProof(sold, paid)).status, 200);
    const ofNothing = await signNothing(gateway, sold);
    const before = await gateway.calls();

    edit(from, to);
    await gateway.reload();
    for (const proof of [{}, { 'x-payment': 'x' }, { authorization: 'Payment x' }, ofNothing]) {
      t.equal((await sendProof(free, proof)).status, status, Object.keys(proof).join());
    }
    const input = { prompt: 'a lighthouse', resolution: '1k' };
    const overMcp = await callTool(gateway, 'image_family-e-2', input, { 'x402/payment': 'x' });
    t.match(overMcp.structuredContent, told);
    t.same(await gateway.calls(), before, 'nobody was asked, and nothing has moved');
    t.equal((await sendProof(sold, paid)).headers.get('idempotency-replayed'), 'true', 'what was bought is had again');
  });
}

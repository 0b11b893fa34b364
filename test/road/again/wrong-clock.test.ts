/** A gateway whose machine has the wrong time: Solana's payments have none of their own, and are sold all the same. */
import t from 'tap';
import { request, sendProof, signProof } from '../../clients.ts';
import { startGateway } from '../../gateway.ts';

const PRICE = 60_000n;
const MINUTE_MS = 60_000;

for (const [what, wrongByMs] of [
  ['ahead', 20 * MINUTE_MS],
  ['behind', -20 * MINUTE_MS],
] as const) {
  t.test(`what settled is found on Solana by a clock that is ${what}, and not asked to be paid again`, async (t) => {
    let chainAheadMs = 0;
    const gateway = await startGateway({
      networks: ['chain-a'],
      now: () => Date.now() + wrongByMs + chainAheadMs,
      solanaNow: () => Date.now() + chainAheadMs,
    });
    t.teardown(gateway.stop);
    const before = await gateway.spendable('chain-a');
    const call = request(gateway, '/image/family-e-2', { prompt: `a lighthouse whose clock is ${what}` });
    const proof = await signProof(gateway, 'chain-a', call);
    await gateway.fault({ settlement: 'chain-a', fault: 'unknown' });
    const paid = await sendProof(call, proof);
    const text = await paid.text();
    t.equal(paid.status, 200, text);
    t.equal(before - (await gateway.spendable('chain-a')), PRICE);
    chainAheadMs = 30 * MINUTE_MS;
    const again = await sendProof(call, proof);
    t.equal(again.status, 200);
    t.equal(await again.text(), text);
  });
}

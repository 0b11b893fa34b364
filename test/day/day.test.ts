/** A short day; `npm run day` has long ones. */
import t from 'tap';
import { runDay } from './day.ts';
import { verdictsOn } from './verdicts.ts';

t.test('after a day with faults, other prices and refunds all accounts of it agree to the unit', async (t) => {
  const day = await runDay({
    calls: 120,
    seed: 11,
    callers: 4,
    networks: ['chain-a', 'chain-c'],
    say: () => undefined,
  });
  for (const { promise, found, holds } of verdictsOn(day.accounts)) t.ok(holds, `${promise}: ${found}`);
  const kinds = [...day.outcomes.keys()].join(', ');
  for (const kind of [/HTTP x402 answer/, /MCP mpp answer/, /chat 200/, /reload 200/, /refund 200/])
    t.match(kinds, kind);
});

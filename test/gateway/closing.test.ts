/** What goes on by itself while a gateway ends. */
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { pino } from 'pino';
import t from 'tap';
import type { Facilitator } from '../../src/payment/facilitators/facilitator.ts';
import { openStore } from '../../src/store/open.ts';
import { openChannel } from '../channels.ts';
import { startGateway } from '../gateway.ts';
import { openGate } from '../relay.ts';
import { fresh, picturesWith } from '../settling-first.ts';

t.test('what a gateway has begun by itself, and its end cuts off, is no error in the log', async (t) => {
  const lines: string[] = [];
  const log = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) });
  const looks = openGate();
  let hasLooked = false;
  const slow = (facilitator: Facilitator): Facilitator => ({
    ...facilitator,
    async channels(caip2) {
      const operator = await facilitator.channels?.(caip2);
      return (
        operator && {
          ...operator,
          async read(channel) {
            await looks.pass();
            return operator.read(channel).finally(() => {
              hasLooked = true;
            });
          },
        }
      );
    },
  });
  const gateway = await startGateway({
    catalogue: picturesWith(t, '{ channels: true }'),
    networks: ['chain-c'],
    log,
    intervals: { claims: { everyMs: 10, afterMs: 0, readEveryMs: 0, takenMs: 60_000 } },
    between: async ({ facilitators }) => ({
      facilitators: facilitators.map((named) => ({ ...named, facilitator: slow(named.facilitator) })),
    }),
  });
  t.equal((await openChannel(gateway).buy(fresh(gateway))).status, 200);
  const look = looks.holdNext();
  await look.reached;
  await gateway.stop();
  hasLooked = false;
  look.release();
  while (!hasLooked) await turn();
  // What it found is handed to a store that is closed, and answered by the thread that opens another behind that.
  const another = await openStore({ file: join(t.testdir({}), 'another.sqlite') });
  await another.close();
  await turn();
  t.same(lines, []);
});

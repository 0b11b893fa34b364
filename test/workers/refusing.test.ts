/** Workers that cannot sell what the catalogue's files say now. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { findRunning } from '../../src/start/running.ts';
import { printed, start } from '../started.ts';
import { startWorkers } from './gateway.ts';

t.test('nobody is told that a catalogue is sold which a worker does not sell', async (t) => {
  const gateway = await startWorkers(t, 2);
  const { TURNPIKE_DATA: data } = gateway.environment;
  const sold = findRunning(data)?.catalogue;
  t.type(sold, 'string');
  // Takes a restart, and whoever takes the place of one that has died was just started.
  appendFileSync(join(gateway.catalogue, 'service.yaml'), 'limits: { payer: { underWay: 2 } }\n');
  const [killed = 0] = gateway.pids();
  process.kill(killed, 'SIGKILL');
  await printed(gateway.run, /a worker does not sell the catalogue/);
  while ((await gateway.ready()).workers.ready < 2) await delay(20);
  t.equal(findRunning(data)?.catalogue, sold);
  const reload = start(gateway.environment, ['reload']);
  t.equal(await reload.ended, 1);
  t.match(reload.output(), /takes a restart/);
});

/** A gateway that does not get the operator's port. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import t from 'tap';
import { freePort } from '../free-port.ts';
import { startGateway } from '../gateway.ts';

t.test('a gateway whose operator’s port is taken sells nothing, and leaves nothing open', async (t) => {
  const [port, taken] = [await freePort(), await freePort()];
  const holder = createServer().listen(taken, '127.0.0.1');
  await once(holder, 'listening');
  const environment = { PORT: String(port), TURNPIKE_ADMIN_PORT: String(taken) };
  await t.rejects(startGateway({ networks: ['chain-c'], environment }), { code: 'EADDRINUSE', port: taken });
  const successor = createServer().listen(port, '127.0.0.1');
  await once(successor, 'listening');
  t.equal((successor.address() as { port: number }).port, port, 'the port that it would have sold at is free');
  for (const server of [successor, holder]) server.close();
  // That its store, its timers and its chain are closed as well is seen by this file's end.
});

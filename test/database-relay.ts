import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Test } from 'tap';

/** The address of the same database through here. `join` says what goes from a client's end to the server's, and back. */
export async function relayDatabase(
  t: Test,
  database: string,
  join: (near: Socket, far: Socket) => void,
): Promise<string> {
  const { hostname, port } = new URL(database);
  const server = createServer((near) => join(near, connect(Number(port), hostname)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => void server.close());
  const through = new URL(database);
  through.port = String((server.address() as AddressInfo).port);
  return through.href;
}

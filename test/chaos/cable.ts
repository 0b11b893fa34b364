/** A cable between a gateway and the database's server that can be cut: nothing goes through, and nobody is told. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Cable {
  readonly port: number;
  /** For so many milliseconds. */
  cut(milliseconds: number): void;
  stop(): Promise<void>;
}

export async function openCable(to: number): Promise<Cable> {
  const sockets = new Set<Socket>();
  let isCut = false;

  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1');
    for (const [from, into] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('data', (bytes) => into.write(bytes));
      // Whoever is gone takes the other end along; why does not matter here.
      from.on('error', () => into.destroy());
      from.on('close', () => {
        sockets.delete(from);
        into.destroy();
      });
      if (isCut) from.pause();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    cut(milliseconds) {
      isCut = true;
      for (const socket of sockets) socket.pause();
      setTimeout(() => {
        isCut = false;
        for (const socket of sockets) socket.resume();
      }, milliseconds);
    },
    async stop() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Hosts of files that do harm: one whose files never end, and one whose files are larger than any that is read. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export interface Files {
  /** Files of this host come a byte at a time, until `end`. */
  readonly slow: string;
  /** Files of this host are 40 MB. */
  readonly large: string;
  /** Where a file of these hosts is really read; undefined for others. */
  find(url: URL): URL | undefined;
  /** Bytes that were read of them. */
  bytes(): number;
  /** Breaks off the slow files that are being read. */
  end(): void;
  stop(): Promise<void>;
}

const LARGE_MEGABYTES = 40;
const DRIP_MS = 1_000;

export async function openFiles(): Promise<Files> {
  const slow = new Set<ServerResponse>();
  const megabyte = Buffer.alloc(2 ** 20, 7);
  let bytes = 0;
  function* megabytes(): Generator<Buffer> {
    for (let sent = 0; sent < LARGE_MEGABYTES; sent += 1) {
      bytes += megabyte.length;
      yield megabyte;
    }
  }
  const server = createServer(async (request, response) => {
    if (request.url?.startsWith('/slow')) {
      slow.add(response);
      response.once('close', () => slow.delete(response));
      response.write('a');
      return;
    }
    // The reader leaves early.
    await pipeline(Readable.from(megabytes()), response).catch(() => undefined);
  });
  const drip = setInterval(() => {
    for (const response of slow) {
      bytes += 1;
      response.write('a');
    }
  }, DRIP_MS);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    slow: 'slow-files.example.com',
    large: 'large-files.example.com',
    find: ({ hostname, pathname }) => {
      const kind = /^(slow|large)-files\.example\.com$/.exec(hostname)?.[1];
      return (kind && new URL(`/${kind}${pathname}`, origin)) || undefined;
    },
    bytes: () => bytes,
    end: () => {
      for (const response of slow) response.end();
    },
    async stop() {
      clearInterval(drip);
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

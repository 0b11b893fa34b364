/** What stands between a store and its Postgres server, and loses the answer to a transaction that was carried out. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Test } from 'tap';

export interface LossyRelay {
  /** Of the same database, through here. */
  readonly url: string;
  /** The next connection on which rows of the table are written is cut once they are there, before anybody is told. */
  loseNext(table: string): void;
  /** The connection is cut on which the server answers next, whatever that is. */
  loseAnswer(): void;
}

export async function startLossyRelay(t: Test, database: string): Promise<LossyRelay> {
  const { hostname, port } = new URL(database);
  let lost: string | undefined;
  let losesAnswer = false;
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    let asked = '';
    let told = '';
    let isLost = false;
    near.on('data', (bytes) => {
      asked += bytes.toString('latin1');
      if (lost !== undefined && new RegExp(`INSERT INTO ${lost}\\b[^]*COMMIT\0`).test(asked)) isLost = true;
      far.write(bytes);
    });
    far.on('data', (bytes) => {
      if (losesAnswer) {
        losesAnswer = false;
        far.destroy();
        return;
      }
      if (!isLost) return void near.write(bytes);
      told += bytes.toString('latin1');
      if (!told.includes('COMMIT\0')) return;
      lost = undefined;
      far.destroy();
    });
    const ends: readonly (readonly [Socket, Socket])[] = [
      [near, far],
      [far, near],
    ];
    for (const [one, other] of ends) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => void server.close());
  const through = new URL(database);
  through.port = String((server.address() as AddressInfo).port);
  return {
    url: through.href,
    loseNext(table) {
      lost = table;
    },
    loseAnswer() {
      losesAnswer = true;
    },
  };
}

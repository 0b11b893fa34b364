/** What stands between a store and its Postgres server, and loses the answer to a transaction that was carried out. */
import type { Socket } from 'node:net';
import type { Test } from 'tap';
import { relayDatabase } from './database-relay.ts';

export interface LossyRelay {
  /** Of the same database, through here. */
  readonly url: string;
  /** The next connection on which rows of the table are written is cut once they are there, before anybody is told. */
  loseNext(table: string): void;
  /** The connection is cut on which the server answers next, whatever that is. */
  loseAnswer(): void;
}

export async function startLossyRelay(t: Test, database: string): Promise<LossyRelay> {
  let lost: string | undefined;
  let losesAnswer = false;
  const url = await relayDatabase(t, database, (near, far) => {
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
  return {
    url,
    loseNext(table) {
      lost = table;
    },
    loseAnswer() {
      losesAnswer = true;
    },
  };
}

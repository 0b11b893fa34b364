/**
 * Payments that were sent and have no answer yet, on the disk: who asks for the same once this process has died has what was
 * paid for. Each process has a file of its own, and takes over those that dead ones have left.
 */
import { createHash, randomUUID } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Payment } from '../../client/wallet.ts';
import { makeDirectory } from '../../made-directory.ts';
import { reasonOf } from '../reason.ts';
import type { Order } from './gateway.ts';
import { closeLockedDatabase, openLockedDatabase } from './locked-database.ts';
import type { Reservation } from './spending.ts';

/** A payment, what it was sent for, and what was counted for it, which names it. */
export interface Sent {
  readonly order: Order;
  readonly payment: Payment;
  readonly reservation: Reservation;
}

export interface Unanswered {
  /** What dead processes left, the oldest first. */
  readonly left: readonly Sent[];
  /** It is on the disk when this returns. Throws where it cannot be written. */
  keep(sent: Sent): void;
  /** It has its answer, or never will. */
  forget(sent: Pick<Sent, 'reservation'>): void;
  /** Lets go of it, as the end of the process does. */
  close(): void;
}

/** Whoever asks for the same later than that wants it made anew. */
const KEPT_MS = 86_400_000;

const TABLE = 'sent (id TEXT PRIMARY KEY, at INTEGER NOT NULL, text TEXT NOT NULL)';

interface Row {
  readonly id: string;
  readonly at: number;
  readonly text: string;
}

function openFile(file: string) {
  const database = openLockedDatabase(file, TABLE);
  if (!database) return undefined;
  const all = database.prepare('SELECT id, at, text FROM sent ORDER BY at, id');
  const insert = database.prepare('INSERT OR REPLACE INTO sent (id, at, text) VALUES (?, ?, ?)');
  const remove = database.prepare('DELETE FROM sent WHERE id = ?');
  return {
    rows: () => all.all() as Row[],
    insert: ({ id, at, text }: Row): void => void insert.run(id, at, text),
    remove: (id: string): void => void remove.run(id),
    close: () => closeLockedDatabase(database),
  };
}

/** Those of one gateway: no other knows of its payments. `tell` takes a line on a file that cannot be read. */
export function openUnanswered(
  directory: string,
  origin: string,
  tell: (line: string) => void,
  now: () => number = Date.now,
): Unanswered {
  makeDirectory(directory, 0o700);
  const prefix = `unanswered-${createHash('sha256').update(origin).digest('hex').slice(0, 16)}-`;
  let own: ReturnType<typeof openFile>;

  function ownFile() {
    own ??= openFile(join(directory, `${prefix}${randomUUID()}.db`));
    if (!own) throw new Error('a file of its own is taken');
    return own;
  }

  function takeOver(file: string): Row[] {
    const dead = openFile(file);
    if (!dead) return [];
    const rows = dead.rows().filter(({ at }) => at > now() - KEPT_MS);
    for (const row of rows) ownFile().insert(row);
    dead.close();
    rmSync(file, { force: true });
    return rows;
  }

  const rows = new Map<string, Row>();
  for (const name of readdirSync(directory)) {
    if (!name.startsWith(prefix) || !name.endsWith('.db')) continue;
    const file = join(directory, name);
    try {
      for (const row of takeOver(file)) rows.set(row.id, row);
    } catch (error) {
      tell(`what an earlier process sent cannot be read (${reasonOf(error)}): ${file}`);
    }
  }

  return {
    left: [...rows.values()].sort((one, other) => one.at - other.at).map(({ text }) => JSON.parse(text) as Sent),
    keep: ({ order, payment, reservation }) =>
      ownFile().insert({
        id: reservation.id,
        at: now(),
        text: JSON.stringify({ order, payment, reservation } satisfies Sent),
      }),
    forget: ({ reservation: { id } }) => own?.remove(id),
    close: () => own?.close(),
  };
}

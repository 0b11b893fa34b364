/**
 * What was paid on a day, kept over restarts and shared by every process of its owner.
 *
 * A file for each day, to which lines are only ever appended: the operating system puts the lines of several processes
 * into one order, and each reads from that order alone which payments the budget had room for. So there is no lock that a
 * dead process could leave behind, and a line that was written half counts for nothing, for it was never signed.
 */
import { randomUUID } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject, type JsonObject } from '../../json.ts';
import { makeDirectory } from '../../made-directory.ts';
import { type Money, toDecimal, usd } from '../../money.ts';

/** Room in the budget that was taken for one payment. */
export interface Reservation {
  readonly id: string;
  readonly file: string;
}

export interface Spending {
  /** Takes room for a payment, before it is signed. Undefined where the day's budget has not as much left. */
  reserve(price: Money, about: { readonly tool: string; readonly network: string }): Promise<Reservation | undefined>;
  /**
   * Gives the room back. `said`: a gateway says that nothing was charged, which is believed for as much as the budget in a
   * day, so that one that lies costs at most a second budget; `unsent`: nobody has the payment.
   */
  giveBack(reservation: Reservation, why: 'said' | 'unsent'): Promise<void>;
  /** What is left of today's budget. */
  left(): Promise<Money>;
}

interface Day {
  readonly accepted: ReadonlyMap<string, Money>;
  readonly spent: Money;
}

function parsed(line: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Goes through a day's lines in their order. */
function replay(text: string): Day {
  const accepted = new Map<string, Money>();
  let spent: Money = 0n;
  let returned: Money = 0n;
  for (const line of text.split('\n').map(parsed)) {
    if (!line) continue;
    const budget = usd(String(line.budget));
    const back = accepted.get(String(line.back));
    if (typeof line.id === 'string') {
      const price = usd(String(line.usd));
      if (spent + price > budget) continue;
      spent += price;
      accepted.set(line.id, price);
    } else if (back !== undefined && (line.why === 'unsent' || returned + back <= budget)) {
      if (line.why !== 'unsent') returned += back;
      spent -= back;
      accepted.delete(String(line.back));
    }
  }
  return { accepted, spent };
}

async function readDay(file: string): Promise<Day> {
  try {
    return replay(await readFile(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return replay('');
    throw error;
  }
}

/** The line is on the disk when this returns. It begins with a new one, so that half a line before it spoils nothing. */
async function append(file: string, line: object): Promise<void> {
  const handle = await open(file, 'a', 0o600);
  try {
    await handle.write(`\n${JSON.stringify(line)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** `money`: play money is counted apart. The directory is made where there is none. */
export function openSpending(
  directory: string,
  money: 'dollars' | 'play',
  budget: Money,
  now: () => number = Date.now,
): Spending {
  makeDirectory(directory, 0o700);
  const fileOfToday = () => {
    const day = new Date(now()).toISOString().slice(0, 10);
    return join(directory, money === 'play' ? `${day}.sandbox.jsonl` : `${day}.jsonl`);
  };
  const limit = toDecimal(budget);
  return {
    async reserve(price, about) {
      const reservation = { id: randomUUID(), file: fileOfToday() };
      const at = new Date(now()).toISOString();
      await append(reservation.file, { id: reservation.id, usd: toDecimal(price), budget: limit, at, ...about });
      const { accepted } = await readDay(reservation.file);
      return accepted.has(reservation.id) ? reservation : undefined;
    },
    giveBack: ({ id, file }, why) => append(file, { back: id, budget: limit, why }),
    async left() {
      const { spent } = await readDay(fileOfToday());
      return spent > budget ? 0n : budget - spent;
    },
  };
}

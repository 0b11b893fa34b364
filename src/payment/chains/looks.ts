/**
 * Looks at a chain for what became of a payment. A look is bounded in calls and in time; what it has searched by then is
 * remembered with the payment, and the next one goes on from there. So a payer who asks again and again gets answers,
 * and no more searching than the first time.
 */
import { orUnknown, type Settlement } from '../../on-chain/settlement.ts';
import { createRpc, type Rpc } from './rpc.ts';

const MOST_CALLS = 60;
/** No call begins later; the last one may take as long as any. */
const MOST_MS = 15_000;
/** A look of more calls than this is not repeated at once. */
const FEW_CALLS = 10;
const PAUSE_MS = 1_000;
/** Payments whose progress is kept: the least recently asked about are forgotten, and searched anew. */
const MOST_PAYMENTS = 10_000;

/** Asks the chain through `rpc`, and writes down in `progress` how far it came. May throw: then nothing is known yet. */
export type Look<Progress> = (rpc: Rpc, progress: Partial<Progress>) => Promise<Settlement>;

export interface Looks<Progress> {
  /**
   * What the look finds. Never throws: what cannot be asked, or not within one look, is `unknown`. Who asks while a look
   * at the same payment is under way, or a moment after a long one, gets its answer.
   */
  look(rpcUrl: string, payment: string, look: Look<Progress>): Promise<Settlement>;
}

interface Entry<Progress> {
  readonly progress: Partial<Progress>;
  underWay?: Promise<Settlement>;
  long?: { readonly answer: Settlement; readonly endedAt: number };
}

/** `now` in milliseconds since the epoch. */
export function openLooks<Progress extends object>(now: () => number = Date.now): Looks<Progress> {
  const entries = new Map<string, Entry<Progress>>();

  const entryOf = (key: string): Entry<Progress> => {
    const entry = entries.get(key) ?? { progress: {} };
    entries.delete(key);
    entries.set(key, entry);
    const oldest = entries.size > MOST_PAYMENTS ? entries.keys().next().value : undefined;
    if (oldest !== undefined) entries.delete(oldest);
    return entry;
  };

  async function run(entry: Entry<Progress>, rpcUrl: string, look: Look<Progress>): Promise<Settlement> {
    const { rpc, calls } = bounded(createRpc(rpcUrl));
    const answer = await orUnknown(look(rpc, entry.progress));
    if (calls() > FEW_CALLS) entry.long = { answer, endedAt: now() };
    else delete entry.long;
    return answer;
  }

  return {
    async look(rpcUrl, payment, look) {
      const key = `${rpcUrl} ${payment}`;
      const entry = entryOf(key);
      if (entry.underWay) return entry.underWay;
      const { long } = entry;
      if (long && Math.abs(now() - long.endedAt) < PAUSE_MS) return long.answer;
      entry.underWay = run(entry, rpcUrl, look);
      try {
        const answer = await entry.underWay;
        if (answer.state !== 'unknown') entries.delete(key);
        return answer;
      } finally {
        delete entry.underWay;
      }
    },
  };
}

function bounded(rpc: Rpc): { rpc: Rpc; calls(): number } {
  const startedAt = performance.now();
  let calls = 0;
  return {
    calls: () => calls,
    rpc: async (method, params) => {
      if (calls >= MOST_CALLS || performance.now() - startedAt > MOST_MS) {
        throw new Error('the chain was not searched in full yet');
      }
      calls += 1;
      return rpc(method, params);
    },
  };
}

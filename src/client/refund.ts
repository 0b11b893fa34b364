/** What is left of deposits, asked back over HTTP. */
import { textOrNull } from '../json.ts';
import { toDecimal } from '../money.ts';
import { readUnits } from './channel.ts';
import type { Deposit, Deposits } from './deposits.ts';
import { readProblem } from './problem.ts';
import { reasonOf } from './purchase.ts';
import { x402Challenge, x402Header, x402Required, x402Response } from './x402.ts';

/** What became of one channel's deposit. */
export type GivenBack =
  | {
      readonly ok: true;
      /** Neutral id of the network. */
      readonly network: string;
      /** Dollars, as a decimal string, by the gateway's word: the transaction says it as well. */
      readonly amount: string;
      /** Undefined where nothing was left: it came back before, or was never deposited. */
      readonly transaction: string | undefined;
    }
  | { readonly ok: false; readonly network: string; readonly message: string };

const NO_BALANCE = 'invalid_batch_settlement_evm_refund_no_balance';

/** Asks the gateway's path for deposits, with the headers of a payment if there is one. */
type Ask = (headers: Record<string, string>) => Promise<Response>;

const mayBeMade = (until: number): string =>
  `the gateway says that nothing is there: it came back before, or a deposit that was signed may still be made until ${new Date(until * 1000).toISOString()}: ask again after that`;

/** In its turn. Never throws. */
export async function askBack(
  deposits: Deposits,
  { channel, network }: { readonly channel: string; readonly network: string },
  ask: Ask,
): Promise<GivenBack> {
  try {
    const challenge = x402Challenge(await ask({}));
    for (let attempts = 0; attempts < 2; attempts += 1) {
      const payment = await deposits.refund(channel, challenge);
      if (!payment) return { ok: false, network, message: 'the gateway does not take vouchers of this channel' };
      const answer = await ask(x402Header(payment));
      const response = x402Response(answer);
      if (answer.ok && response) {
        const amount = await deposits.givenBack(channel, readUnits(response.amount) ?? 0n, response);
        return { ok: true, network, amount, transaction: textOrNull(response.transaction) ?? undefined };
      }
      const required = x402Required(answer);
      if (required.error === NO_BALANCE) {
        const openUntil = await deposits.foundEmpty(channel);
        if (openUntil !== undefined) return { ok: false, network, message: mayBeMade(openUntil) };
        return { ok: true, network, amount: toDecimal(0n), transaction: undefined };
      }
      if (!(await deposits.corrected(channel, required))) {
        // Its words: `error` is a code of the scheme's.
        const { message } = await readProblem(answer);
        return { ok: false, network, message };
      }
    }
    return { ok: false, network, message: 'the gateway does not say twice the same of what the channel has cost' };
  } catch (error) {
    return { ok: false, network, message: `${reasonOf(error)}: ask again` };
  }
}

/** Whether there may be something to give back: what an unanswered call has cost, the gateway knows. */
export const mayHaveLeft = ({ left, unanswered }: Deposit): boolean => left !== '0' || unanswered !== '0';

/** Asks every deposit back that may have something left, after the calls that are under way. Throws where what is kept cannot be read. */
export const askAllBack = (deposits: Deposits, ask: Ask, signal: AbortSignal | undefined): Promise<GivenBack[]> =>
  deposits.turn(async () => {
    const results: GivenBack[] = [];
    for (const deposit of (await deposits.list()).filter(mayHaveLeft)) {
      results.push(await askBack(deposits, deposit, ask));
    }
    return results;
  }, signal);

/** What a call holds of a balance before it runs, and what becomes of it after. */

import { draining, Problem } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { type Money, type Rate, rate, toDecimal } from '../../money.ts';
import { CHAT_PATH } from '../../paths.ts';
import type { Leases } from '../../payment/leases.ts';
import { actualCost, type TokenUse } from '../../pricing/tokens.ts';
import type { ApiKey, CreditStore, HoldRefusal } from '../../store/credits/credit-store.ts';
import { exceedsDay } from '../../store/credits/posting.ts';
import { storeUnavailable } from '../../store/problem.ts';
import type { StoredAnswer } from '../../store/stored-answer.ts';
import { throughOutage } from '../../store/through-outage.ts';
import { waitingFor } from '../../timing.ts';
import { costOfUsage } from '../../upstream/reported-cost.ts';
import { inProgress } from './naming.ts';
import { ApiKeyProblem } from './problems.ts';
import { type ChatCall, cheaper } from './request.ts';

export interface ChargeParts {
  readonly store: Pick<CreditStore, 'hold' | 'settle' | 'release'>;
  readonly log: Log;
  /** Names this instance. */
  readonly owner: string;
  /** Of what calls hold, by their ids. */
  readonly leases: Leases<string>;
  /** Where credits are sold; undefined: nowhere. */
  readonly creditsUrl: string | undefined;
  /** A hold dies this long after its instance did, in milliseconds. */
  readonly leaseMs: number;
  /** How long a call waits for another with its name before it has to come back, in milliseconds. */
  readonly waitMs: number;
  /** Aborted when the gateway has to stop. */
  readonly stopping: AbortSignal;
  now(): number;
}

/** What a call used. */
export interface Use extends TokenUse {
  /** False where the provider counted the tokens. */
  readonly isEstimated: boolean;
  /** What the provider charged us, in trillionths of a dollar, where it says so. */
  readonly cost: Rate | undefined;
}

/** The money of one call. Exactly one of the two ends it. */
export interface CreditHold {
  /** Answers what was charged. `answer`: what is kept of a call that has a name. */
  settle(use: Use, answer?: () => StoredAnswer | undefined): Promise<Money>;
  release(note: string): Promise<void>;
}

/** As a route of the ledger. */
export const ROUTE = CHAT_PATH.slice(1);

const DAY_MS = 86_400_000;

/** How many calls of one key may be under way, on all instances together. */
const MOST_CALLS = 32;

/** Before anything is bought for the call. Throws ApiKeyProblem where no balance would be enough today. */
export function demandAllowance({ limits, spent }: ApiKey, call: ChatCall, now: number): void {
  if (exceedsDay(limits, spent, call.bound, now)) throw dailyLimit(call, now);
}

/**
 * Takes what the call holds, or tells what another with its name was answered: waits for one that has not ended. Answers when
 * the hold's lease ends.
 */
async function take(parts: ChargeParts, key: ApiKey, call: ChatCall, id: string): Promise<number | StoredAnswer> {
  const { store, owner, creditsUrl, leaseMs, waitMs, stopping, now } = parts;
  const { model, bound: amount, named } = call;
  const wait = waitingFor(waitMs, now);
  for (;;) {
    const leaseUntil = now() + leaseMs;
    const outcome = await store.hold({
      id,
      keyId: key.id,
      amount,
      mostHolds: MOST_CALLS,
      route: ROUTE,
      model: model.name,
      owner,
      now: now(),
      leaseUntil,
      ...(named && { named }),
    });
    if (outcome.held) return leaseUntil;
    if (outcome.because === 'answered') return outcome.answer;
    const { because, balance } = outcome;
    if (because !== 'under-way') throw refusal(because, balance, call, { creditsUrl, now: now() });
    if (stopping.aborted) throw draining();
    if (!(await wait())) throw inProgress();
  }
}

/**
 * What the call holds, or what another with its name was answered. Throws ApiKeyProblem when the key may not spend so much,
 * and Problem where the database cannot be used.
 */
export async function openHold(
  parts: ChargeParts,
  key: ApiKey,
  call: ChatCall,
  requestId: string,
): Promise<CreditHold | StoredAnswer> {
  const { store, log, leases, now } = parts;
  const { named } = call;
  const model = call.model.name;
  const held = await take(parts, key, call, requestId);
  if (typeof held !== 'number') return held;
  const lease = leases.take(requestId, held);
  // What cannot be ended now is given back when its lease runs out.
  const end = <Result>(ending: () => Promise<Result>): Promise<Result> => throughOutage(ending).finally(lease.end);
  const isHeld = await lease.confirm().catch((error: unknown) => {
    lease.end();
    throw error;
  });
  if (!isHeld) {
    lease.end();
    throw storeUnavailable('what the call held was given back before it began');
  }
  return {
    async settle(use, answer) {
      const price = actualCost(call.model.price, use, call.bound);
      const counted = use.isEstimated ? 'tokens as estimated' : 'tokens';
      const note = `${use.promptTokens} prompt and ${use.completionTokens} completion ${counted}`;
      const settlement = {
        price,
        note,
        ...(use.cost !== undefined && { cost: use.cost }),
        ...(named && { named: { ...named, answer: answer?.() } }),
      };
      const charged = await end(() => store.settle(requestId, settlement, now()));
      const details = { requestId, key: key.id, model, usd: toDecimal(charged ?? 0n), note };
      if (charged !== undefined) log.info(details, 'call charged');
      else log.error(details, 'call not charged: nothing is known of its hold');
      return charged ?? 0n;
    },
    async release(note) {
      await end(() => store.release(requestId, note, now()));
      log.info({ requestId, key: key.id, model, note }, 'call not charged');
    },
  };
}

function refusal(
  because: Exclude<HoldRefusal, 'under-way'>,
  balance: bigint,
  call: ChatCall,
  { creditsUrl, now }: Pick<ChargeParts, 'creditsUrl'> & { readonly now: number },
): ApiKeyProblem | Problem {
  const needed = toDecimal(call.bound);
  switch (because) {
    case 'balance': {
      const message =
        `The call may cost up to ${needed} USD, and the balance is ${toDecimal(balance)} USD: ` +
        `${cheaper(call, balance)}${creditsUrl === undefined ? '' : `, or top up with POST ${creditsUrl}`}`;
      const facts = {
        needed_usd: needed,
        balance_usd: toDecimal(balance),
        ...(creditsUrl !== undefined && { top_up_url: creditsUrl }),
      };
      return new ApiKeyProblem('insufficient_credits', message, { facts });
    }
    case 'per-day':
      return dailyLimit(call, now);
    case 'holds': {
      const message = `The API key has ${MOST_CALLS} calls under way, as many as it may have at a time: wait for one to end`;
      return new ApiKeyProblem('too_many_calls', message, { headers: { 'retry-after': '1' } });
    }
    case 'named-otherwise': {
      const message = 'This Idempotency-Key belongs to another request: nothing was charged, take a new one for this';
      return new ApiKeyProblem('invalid_value', message, { param: 'Idempotency-Key' });
    }
    case 'not-kept':
      return new Problem(
        'answer_gone',
        'A call with this Idempotency-Key was charged, and its answer was too long to be kept: take a new one to ask, and pay, once more',
      );
    case 'unknown':
    case 'disabled':
    case 'expired':
      return new ApiKeyProblem('invalid_api_key', 'The API key was disabled or has expired just now');
  }
}

function dailyLimit({ bound }: ChatCall, now: number): ApiKeyProblem {
  const seconds = Math.ceil((DAY_MS - (now % DAY_MS)) / 1000);
  const message = `The call may cost up to ${toDecimal(bound)} USD, more than is left of what the API key may spend today (UTC)`;
  // Clients that retry by themselves would come back in seconds.
  const headers = { 'retry-after': String(seconds), 'x-should-retry': 'false' };
  return new ApiKeyProblem('daily_limit_exceeded', message, { headers });
}

/** What a provider's `usage` says that a call cost us, in trillionths of a dollar. */
export function costOf(usage: Readonly<Record<string, unknown>> | undefined): Rate | undefined {
  const dollars = costOfUsage(usage);
  return dollars === undefined ? undefined : rate(dollars);
}

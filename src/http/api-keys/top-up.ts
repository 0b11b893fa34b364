/** Credit that a call brings along: what it may cost at most, bought for its key as `POST /v1/credits` sells it. */
import type { Route } from '../../catalogue/types.ts';
import type { ApiKeys } from '../../credits/api-keys.ts';
import { Problem } from '../../errors.ts';
import type { Lifecycle } from '../../lifecycle/lifecycle.ts';
import type { Log } from '../../log.ts';
import { type Money, toDecimal } from '../../money.ts';
import { CREDITS_PATH } from '../../paths.ts';
import type { HttpAnswer, Rail } from '../../payment/rail.ts';
import { type Ended, type Visit, visitWithin } from '../../request/visit.ts';
import type { CreditStore } from '../../store/credits/credit-store.ts';
import { render } from '../render.ts';
import { ApiKeyProblem } from './problems.ts';

export interface TopUpParts {
  readonly lifecycle: Pick<Lifecycle, 'answer'>;
  readonly rails: ReadonlyMap<string, Rail>;
  readonly apiKeys: Pick<ApiKeys, 'find'>;
  readonly store: Pick<CreditStore, 'pending'>;
  /** Lets a purchase count, by its payment, where that lies deep enough in its chain. Throws where nobody can say. */
  confirm(paymentId: string): Promise<boolean>;
  readonly ended: Ended;
  readonly log: Pick<Log, 'warn'>;
}

/** What a call lacks. */
export interface TopUp {
  /** In clear. */
  readonly apiKey: string;
  readonly keyId: string;
  /** The most that the call costs. */
  readonly bound: Money;
  /** The call's. */
  readonly visit: Visit;
}

type Headers = Readonly<Record<string, string>>;

export interface TopUps {
  /**
   * Buys with a payment, a `PAYMENT-SIGNATURE`. Answers the headers that tell of it. Throws ApiKeyProblem
   * `payment_refused`, and Problem.
   */
  buy(topUp: TopUp, payment: string): Promise<Headers>;
  /**
   * The headers by which it can be paid; none where it cannot be at the moment. Throws ApiKeyProblem `credits_pending`
   * where enough is paid already, and Problem `rate_limited` where its address asks for too many prices.
   */
  offer(topUp: TopUp): Promise<Headers>;
}

/** What of the sale's answer is said of the call: the rest is about the sale itself. */
const SAID = ['payment-required', 'payment-response', 'x-payment-response', 'retry-after'];

const saidOf = ({ headers }: HttpAnswer): Headers =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (SAID.includes(name) ? [[name, `${value}`]] : [])),
  );

/** Undefined where these routes sell no credits. */
export function openTopUps(routes: readonly Route[], parts: TopUpParts): TopUps | undefined {
  const { lifecycle, rails, apiKeys, store, confirm, ended, log } = parts;
  const sale = routes.find(({ path, methods }) => path === CREDITS_PATH && methods.includes('POST'));
  if (!sale) return undefined;
  const least = sale.price.min;

  /** The amount follows from the call alone: what was signed for it is good for it whatever the balance is by then. */
  async function ask({ apiKey, bound, visit: call }: TopUp, headers: Headers) {
    const amount = bound > least ? bound : least;
    const body = Buffer.from(JSON.stringify({ amount_usd: toDecimal(amount), api_key: apiKey }));
    const visit = visitWithin(call, 'POST', ended);
    const outcome = await lifecycle.answer({
      transport: 'http',
      method: 'POST',
      path: CREDITS_PATH,
      query: '',
      headers,
      visit,
      readBody: async () => body,
    });
    const answer = render(outcome, rails);
    visit.status = answer.status;
    visit.release();
    return { outcome, headers: saidOf(answer) };
  }

  /** Enters in the ledger what has been paid for, where it counts already. */
  async function post({ apiKey, keyId, visit: { requestId } }: TopUp): Promise<void> {
    await apiKeys.find(apiKey);
    const pending = await store.pending(keyId);
    if (pending.length === 0) return;
    for (const { paymentId } of pending) {
      await confirm(paymentId).catch((err: unknown) =>
        log.warn({ requestId, payment: paymentId, err }, 'the confirmations of a payment could not be counted'),
      );
    }
    await apiKeys.find(apiKey);
  }

  return {
    async buy(topUp, payment) {
      const { outcome, headers } = await ask(topUp, { 'payment-signature': payment });
      if (outcome.kind === 'challenge') {
        const reason = outcome.challenge.refusal?.message ?? 'it cannot be read';
        throw new ApiKeyProblem('payment_refused', `The payment was not taken: ${reason}`, { headers });
      }
      if (outcome.kind === 'problem') {
        const { code, message, headers: own, cause } = outcome.problem;
        throw new Problem(code, message, { headers: { ...own, ...headers }, cause });
      }
      await post(topUp);
      return headers;
    },

    async offer(topUp) {
      const key = await apiKeys.find(topUp.apiKey);
      const pending = await store.pending(topUp.keyId);
      const paid = pending.reduce((sum, { amount }) => sum + amount, key?.balance ?? 0n);
      if (paid >= topUp.bound) {
        const message = 'Credit that is paid for counts in a moment: send the same request again without a payment';
        throw new ApiKeyProblem('credits_pending', message, { headers: { 'retry-after': '2' } });
      }
      const { outcome, headers } = await ask(topUp, {});
      if (outcome.kind === 'problem' && outcome.problem.code === 'rate_limited') throw outcome.problem;
      return outcome.kind === 'challenge' && !outcome.challenge.invalidParams ? headers : {};
    },
  };
}

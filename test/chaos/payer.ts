/** Payers, each with a habit of its own. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Chains, Proof } from './chains.ts';
import type { Dice } from './dice.ts';
import { askAt } from './doors.ts';
import type { Gateways } from './gateways.ts';
import { endOf, isFinal, type Purchase } from './purchase.ts';
import type { Answer, Sender } from './send.ts';
import type { Timeline } from './timeline.ts';

export interface Market {
  readonly gateways: Pick<Gateways, 'urls'>;
  readonly chains: Pick<Chains, 'pay'>;
  readonly sender: Sender;
  readonly timeline: Timeline;
}

/** So long a payer goes on asking, in milliseconds. */
const PATIENCE_MS = 9_000;
const PAUSE_MS = { least: 40, most: 500 };

export async function anyGateway({ gateways }: Market, dice: Dice): Promise<{ slot: number; url: string }> {
  for (;;) {
    const found = dice.oneOf(gateways.urls());
    if (found) return found;
    await delay(20);
  }
}

/** A 402 for the purchase, from whichever gateway gives one. */
async function ask(market: Market, { door, path, body }: Purchase, dice: Dice): Promise<Answer> {
  for (;;) {
    const { url } = await anyGateway(market, dice);
    const answer = await askAt(door, market.sender, { url, path, body }).catch(() => undefined);
    if (answer?.status === 402) return answer;
    await delay(PAUSE_MS.least);
  }
}

async function signAnew(market: Market, purchase: Purchase, dice: Dice): Promise<Proof> {
  const { method, wallet, identifier, mark } = purchase;
  const proof = await market.chains.pay(await ask(market, purchase, dice), method, wallet, { identifier });
  purchase.proofs.push(proof);
  market.timeline.belongs(proof.payment, mark);
  return proof;
}

/** Once, to one gateway. Undefined where no answer came. */
export async function sendOnce(
  market: Market,
  purchase: Purchase,
  proof: Proof,
  dice: Dice,
  { body = purchase.body, leaveAfterMs }: { readonly body?: object; readonly leaveAfterMs?: number } = {},
): Promise<Answer | undefined> {
  const { timeline, sender } = market;
  const { mark, door, path, idempotencyKey } = purchase;
  const { slot, url } = await anyGateway(market, dice);
  const which = `payment ${purchase.proofs.indexOf(proof) + 1}${body === purchase.body ? '' : ', another request'}`;
  const note = (what: string) => timeline.note(`${which}: ${what}`, { mark, slot });
  note('the payer sends');
  const headers = { ...proof.headers, ...(idempotencyKey && { 'idempotency-key': idempotencyKey }) };
  try {
    const signal = leaveAfterMs === undefined ? undefined : AbortSignal.timeout(leaveAfterMs);
    const answer = await askAt(door, sender, { url, path, body, headers, signal });
    note(`the payer gets ${answer.status} ${answer.code}`);
    purchase.received.push({ proof, answer, at: timeline.now() });
    return answer;
  } catch {
    note(leaveAfterMs === undefined ? 'no answer' : 'the payer has left, or there was no answer');
    return undefined;
  }
}

/** Sends until there is an answer that stays, or it has been long enough. */
export async function persist(
  market: Market,
  purchase: Purchase,
  proof: Proof,
  dice: Dice,
  { body = purchase.body, patienceMs = PATIENCE_MS }: { readonly body?: object; readonly patienceMs?: number } = {},
): Promise<Answer | undefined> {
  const until = performance.now() + patienceMs;
  for (let pause = PAUSE_MS.least; performance.now() < until; pause = Math.min(pause * 2, PAUSE_MS.most)) {
    const answer = await sendOnce(market, purchase, proof, dice, { body });
    if (answer && isFinal(answer)) return answer;
    await delay(pause);
  }
  return undefined;
}

/** Once more, for what the payment has bought: its payer may have asked for something else with it first. */
export async function askAgain(
  market: Market,
  purchase: Purchase,
  proof: Proof,
  dice: Dice,
  patienceMs: number,
): Promise<void> {
  const answer = await persist(market, purchase, proof, dice, { patienceMs });
  if (answer?.status === 402 && purchase.habit === 'changing') {
    await persist(market, purchase, proof, dice, { body: purchase.otherBody, patienceMs });
  }
}

/** One payer from the first 402 to the end of its patience. */
export async function buy(market: Market, purchase: Purchase, dice: Dice): Promise<void> {
  const proof = await signAnew(market, purchase, dice);
  const send = (options?: Parameters<typeof sendOnce>[4]) => sendOnce(market, purchase, proof, dice, options);
  const leave = () => send({ leaveAfterMs: dice.between(5, 600) });
  const stay = (with_ = proof) => persist(market, purchase, with_, dice);
  switch (purchase.habit) {
    case 'patient':
      await stay();
      return;
    case 'returning':
      await leave();
      await delay(dice.between(0, 3_000));
      await stay();
      return;
    case 'leaving':
      await leave();
      return;
    case 'changing': {
      const first = dice.percent(50) ? send() : leave();
      if (dice.percent(50)) await delay(dice.between(0, 100));
      else await first;
      await send({ body: purchase.otherBody });
      await first;
      await stay();
      return;
    }
    case 'doubling':
      await Promise.all(Array.from({ length: dice.between(2, 4) }, () => send()));
      await stay();
      return;
    case 'with a key':
    case 'with an identifier': {
      await (dice.percent(60) ? leave() : send());
      await delay(dice.between(0, 5_000));
      const fresh = await signAnew(market, purchase, dice);
      if (dice.percent(20)) await Promise.all([send(), stay(fresh)]);
      else await stay(fresh);
      if (dice.percent(30) && endOf(purchase, fresh)) await stay();
    }
  }
}

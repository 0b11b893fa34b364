/** Payers pay while everything fails and gateways are killed. */
import { type ChatCall, chat } from './chat.ts';
import { openDice } from './dice.ts';
import { type Crash, wreak } from './havoc.ts';
import { newPurchase } from './orders.ts';
import { buy } from './payer.ts';
import type { Purchase } from './purchase.ts';
import { INTERVALS, type Stage } from './stage.ts';

export interface Storm {
  readonly purchases: readonly Purchase[];
  readonly chats: readonly ChatCall[];
  /** What was done to gateways and database, and how often. */
  readonly done: ReadonlyMap<string, number>;
  readonly crashes: readonly Crash[];
}

const CHAT_PERCENT = 20;

/** Keys that were bought, as their buyers got them. */
const boughtKeys = (purchases: readonly Purchase[]): string[] =>
  purchases
    .filter(({ path }) => path === '/v1/credits')
    .flatMap(({ received }) => received.flatMap(({ answer }) => JSON.parse(answer.text).api_key ?? []));

export interface StormOptions {
  readonly kills: number;
  /** How many pay at a time. */
  readonly payers: number;
  /** It ends after so long, although there were fewer kills. */
  readonly seconds: number;
}

export async function storm(stage: Stage, { kills, payers, seconds }: StormOptions): Promise<Storm> {
  const { seed, chains, world, faults, timeline, apiKey } = stage;
  const purchases: Purchase[] = [];
  const chats: ChatCall[] = [];
  const crashes: Crash[] = [];
  let isOver = false;
  let number = 0;

  async function visit(): Promise<void> {
    number += 1;
    const dice = openDice(seed, `visit ${number}`);
    const keys = [apiKey, ...boughtKeys(purchases)];
    if (dice.percent(CHAT_PERCENT)) {
      chats.push(await chat(stage, dice.oneOf(keys) ?? apiKey, number, dice));
      return;
    }
    const purchase = await newPurchase(number, dice, { keys, chains });
    purchases.push(purchase);
    await buy(stage, purchase, dice);
  }

  const paying = Array.from({ length: payers }, async () => {
    while (!isOver) await visit();
  });
  const done = await wreak({
    ...stage,
    kills,
    mostMs: seconds * 1000,
    leaseMs: INTERVALS.leaseMs,
    onLost: world.upstream.abandon,
    onCrash: (crash) => void crashes.push(crash),
  });
  isOver = true;
  faults.end();
  timeline.note('NOTHING FAILS ANY MORE');
  await Promise.all([...paying, world.settling.idle()]);
  return { purchases, chats, done, crashes };
}

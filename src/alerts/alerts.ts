/** Watches, and tells those who want to know: `alerts` in `service.yaml`. */
import type { AlertsFile } from '../catalogue/types.ts';
import type { Log } from '../log.ts';
import { atomicToDecimal } from '../money.ts';
import type { GasAccount } from '../payment/facilitators/facilitator.ts';
import { tellConditions } from './conditions.ts';
import type { Delivery } from './deliver.ts';
import { type HistoryParts, openHistory } from './history.ts';
import { letter, type News } from './letter.ts';
import { openSending } from './send.ts';
import { openTally } from './tally.ts';
import { creditNews, isMarginKnown, marginNews, revenueNews, spendNews } from './thresholds.ts';

export interface AlertsParts extends HistoryParts {
  /** Of the catalogue on sale; undefined: nobody is told anything. */
  settings(): AlertsFile | undefined;
  /** Undefined where there is no secret to sign with. */
  readonly delivery: Delivery | undefined;
  /** Network -> whether a facilitator in reach settles there. */
  facilitators(): ReadonlyMap<string, boolean>;
  /** Upstream -> whether it is not asked for a while. */
  circuits(): ReadonlyMap<string, boolean>;
  /** What this process settles from, by CAIP-2 id. */
  gas(): Promise<ReadonlyMap<string, GasAccount>>;
  readonly log: Log;
  readonly everyMs: number;
}

export interface Alerts {
  /** Each with how often it is to run. */
  readonly tasks: readonly (readonly [everyMs: number, run: () => Promise<void>])[];
  close(): Promise<void>;
}

const MARGIN = 'margin.negative:';
const DOWN = 'facilitator.down:';
/** Sums need not be counted as often as rows are looked at. */
const COUNT_EVERY = 6;
/** Rounds that something holds which nobody sees any more. */
const HELD_ROUNDS = 3;

export async function openAlerts(parts: AlertsParts): Promise<Alerts> {
  const { store, delivery, facilitators, circuits, gas, everyMs, idOf, log, now } = parts;
  const history = openHistory(parts);
  const tally = openTally(parts);
  const sending = delivery && openSending({ store, delivery, log, now });

  const whileWanted = (run: (settings: AlertsFile) => Promise<void>) => async () => {
    const settings = parts.settings();
    if (settings) await run(settings);
  };

  const answered = (accounts: ReadonlyMap<string, GasAccount>, network: string): boolean =>
    [...accounts.keys()].some((caip2) => idOf(caip2) === network);

  function gasNews(accounts: ReadonlyMap<string, GasAccount>, gasBelow = 0): News[] {
    return [...accounts]
      .filter(([, { lasts }]) => lasts < gasBelow)
      .map(([network, { address: account, balance, decimals, lasts }]) => ({
        type: 'signer.gas-low',
        about: `${idOf(network)}:${account}`,
        data: {
          network: idOf(network),
          account,
          balance: atomicToDecimal(balance, decimals),
          settlements: Number(lasts),
          threshold: gasBelow,
        },
      }));
  }

  async function watch(settings: AlertsFile): Promise<void> {
    await history(settings);
    const down = (type: 'facilitator.down' | 'upstream.down', key: string, names: readonly string[]): News[] =>
      names.map((name) => ({ type, about: name, data: { [key]: name } }));
    const named = (standing: ReadonlyMap<string, boolean>, state: boolean) =>
      [...standing].filter(([, is]) => is === state).map(([name]) => name);
    const settles = facilitators();
    const { gasBelow } = settings;
    const accounts = gasBelow === undefined ? undefined : await gas();
    const silent = accounts ? [...settles.keys()].filter((network) => !answered(accounts, network)) : [];
    const news = [
      ...down('facilitator.down', 'network', named(settles, false)),
      ...down('upstream.down', 'upstream', named(circuits(), true)),
      ...gasNews(accounts ?? new Map(), gasBelow),
    ];
    await tellConditions(store.alerts, settings, {
      types: ['facilitator.down', 'upstream.down', 'signer.gas-low'],
      news,
      isUnseen: (subject) =>
        silent.some((network) => subject.startsWith(`signer.gas-low:${network}:`)) ||
        // One that was taken out: nobody settles there again.
        (subject.startsWith(DOWN) && !settles.has(subject.slice(DOWN.length))),
      now: now(),
      heldMs: HELD_ROUNDS * everyMs,
    });
  }

  async function count(settings: AlertsFile): Promise<void> {
    const { spendAbove, revenueBelow, marginOver, creditBelow } = settings;
    if (spendAbove ?? revenueBelow ?? marginOver) await tally.count(now());
    const moment = now();
    const once = [...spendNews(settings, tally, moment), ...(await revenueNews(settings, tally, store, moment))];
    for (const each of once) await store.alerts.add(letter(settings, each, moment), moment);
    const keys = creditBelow === undefined ? [] : await store.credits.listKeys(moment);
    const news = [...marginNews(settings, tally), ...creditNews(settings, keys, moment)];
    const heldMs = HELD_ROUNDS * COUNT_EVERY * everyMs;
    await tellConditions(store.alerts, settings, {
      types: ['margin.negative', 'credit.low'],
      news,
      // After a start, an endpoint's sales of the days before are not known.
      isUnseen: (subject) =>
        subject.startsWith(MARGIN) && !isMarginKnown(settings, tally, subject.slice(MARGIN.length)),
      now: moment,
      heldMs,
    });
  }

  // From here on nothing is left out, whatever becomes of this process.
  await whileWanted(history)();
  return {
    tasks: [
      [everyMs, whileWanted(watch)],
      [everyMs * COUNT_EVERY, whileWanted(count)],
      [everyMs / 5, whileWanted(async (settings) => sending?.round(settings))],
    ],
    async close() {
      const sent = sending?.close();
      await delivery?.close();
      await sent;
    },
  };
}

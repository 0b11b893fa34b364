/**
 * A day of business in the sandbox: every door and network, faults, changes of prices, refunds. Then the console, the
 * metrics, the books and the chains have to say the same, to the unit.
 */
import '../own-fetch.ts';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Overview, PaymentPage } from '../../src/console/figures.ts';
import { request, sendProof } from '../clients.ts';
import { type Console, startConsole } from '../console/client.ts';
import { randomFrom } from '../random.ts';
import { type Door, httpDoor, mcpDoor, type Proof, type Way } from '../road/doors.ts';
import { type Accounts, accountsOf } from './accounts.ts';

export interface DayOptions {
  readonly calls: number;
  readonly seed: number;
  /** Networks of `networks.yaml`, besides Tempo. */
  readonly networks: readonly string[];
  /** Who call at the same time. */
  readonly callers: number;
  say(line: string): void;
}

export interface Day {
  /** What became of the calls, by kind. */
  readonly outcomes: ReadonlyMap<string, number>;
  readonly accounts: Accounts;
  readonly seconds: number;
}

const PICTURE = '/image/family-e-2';
const SPEECH = '/audio/x-text-to-speech';
const PRICES = ['0.06', '0.07', '0.05'];
/** One payer for all: what settles first and what afterwards is mixed, and some of what settled first is owed. */
const SERVICE = `
exposure: { perPayer: "20", new: "20", perHour: "50", settleUpfront: { above: "0.05", afterFailures: 1000 } }
refunds: automatic
`;
const FAULTS = [
  { upstream: 'predictions', fault: 'refuse' },
  { upstream: 'predictions', fault: '500' },
  { upstream: 'xai', fault: '500' },
] as const;

/** A catalogue whose picture's price can be changed. */
function catalogueIn(directory: string): (price: string) => void {
  cpSync('catalogue', directory, { recursive: true });
  const service = join(directory, 'service.yaml');
  writeFileSync(service, readFileSync(service, 'utf8') + SERVICE);
  const picture = join(directory, 'endpoints', `${PICTURE}.yaml`);
  const text = readFileSync(picture, 'utf8');
  return (price) => writeFileSync(picture, text.replace('1k: "0.06"', `1k: "${price}"`));
}

/** One caller's next call. Answers what kind it was and how it ended. */
type Caller = (random: () => number, number: number) => Promise<string>;

function openCaller({ gateway, ask, get }: Console, networks: readonly string[]): Caller {
  const doors: readonly Door[] = [httpDoor(gateway), mcpDoor(gateway)];
  const ways: readonly Way[] = [
    ...networks.map((network) => ({ rail: 'x402', network }) as const),
    { rail: 'mpp', network: 'tempo' },
    { rail: 'mpp', network: 'chain-c' },
  ];
  const { apiKey = '' } = gateway.state as { apiKey?: string };
  const of = <Item>(items: readonly Item[], random: () => number) => items[Math.floor(random() * items.length)] as Item;

  /** Comes back with the same payment for what is pending or owed, as clients do. */
  async function buy(door: Door, way: Way, path: string, input: object): Promise<string> {
    const proof: Proof = await door.sign(way, path, input);
    for (let attempt = 1; ; attempt += 1) {
      const { kind, code = '' } = await door.ask(way, path, input, proof);
      const name = `${door.name} ${way.rail} ${kind === 'problem' ? code : kind}`;
      if (kind !== 'problem' || attempt === 4 || !/owed|pending|progress/.test(code)) return name;
      await delay(50);
    }
  }

  async function chat(number: number): Promise<string> {
    const body = {
      model: 'vendor5-k3',
      messages: [{ role: 'user', content: `Why, for the ${number}th time?` }],
      max_tokens: 200,
      stream: number % 2 === 0,
    };
    const call = request(gateway, '/v1/chat/completions', body);
    const answer = await sendProof(call, { authorization: `Bearer ${apiKey}` });
    await answer.text();
    return `chat ${answer.status}`;
  }

  /** Of one of the last payments, a part or all that is left. */
  async function giveBack(random: () => number): Promise<string> {
    const { payments } = await get<PaymentPage>('payments?state=settled');
    const { id = '', amount = '0' } = payments.length > 0 ? of(payments, random) : {};
    const part = random() < 0.5 ? { amount: (Number(amount) / 2).toFixed(6) } : {};
    const { status } = await ask('POST', `payments/${encodeURIComponent(id)}/refund`, { ...part, reason: 'sorry' });
    return `refund ${status}`;
  }

  return async (random, number) => {
    const draw = random();
    const door = of(doors, random);
    const way = of(ways, random);
    if (draw < 0.15) return chat(number);
    if (draw < 0.25) return `unpaid ${(await door.ask(way, PICTURE, { prompt: 'how much?' })).kind}`;
    if (draw < 0.28) return `invalid ${(await door.ask(way, PICTURE, { prompt: 7 })).kind}`;
    if (draw < 0.3) return giveBack(random);
    if (draw < 0.31) return buy(httpDoor(gateway), way, '/v1/credits', { amount_usd: '2' }).catch(String);
    if (draw < 0.36) await gateway.fault({ ...of(FAULTS, random) });
    if (draw < 0.39) await gateway.fault({ settlement: 'chain-c', fault: of(['refuse', 'unknown'], random) });
    // Speech is not sold over MPP.
    return way.rail === 'mpp' || random() < 0.6
      ? buy(door, way, PICTURE, { prompt: `picture ${number}` })
      : buy(door, way, SPEECH, { text: `Number ${number}.` });
  };
}

/** Nothing waits any more: no refund is to be sent, and nothing unknown. Gives up after two minutes. */
async function settled({ get }: Console): Promise<void> {
  const giveUpAt = performance.now() + 120_000;
  while (performance.now() < giveUpAt) {
    const { attention } = await get<Overview>('overview');
    const { owed, unknown, stuck, refundsWaiting } = attention;
    if ([unknown, stuck, refundsWaiting].every(({ count }) => count === 0) && owed.count === 0) return;
    await delay(200);
  }
}

export async function runDay({ calls, seed, networks, callers, say }: DayOptions): Promise<Day> {
  const directory = mkdtempSync(join(tmpdir(), 'turnpike-day-'));
  const setPrice = catalogueIn(directory);
  let ahead = 0;
  const shop = await startConsole({
    catalogue: directory,
    networks,
    tempo: true,
    intervals: { reconcileEveryMs: 100 },
    now: () => Date.now() + ahead,
  });
  try {
    const open = await accountsOf(shop, networks);
    const startedAt = performance.now();
    const call = openCaller(shop, networks);
    const outcomes = new Map<string, number>();
    const count = (name: string) => outcomes.set(name, (outcomes.get(name) ?? 0) + 1);
    let number = 0;
    const work = async () => {
      while (number < calls) {
        number += 1;
        // What is drawn for a call does not depend on which of those beside it is faster.
        const random = randomFrom(Math.imul(seed, 1_000_003) + number);
        if (number % Math.ceil(calls / 10) === 0) {
          setPrice(PRICES[number % PRICES.length] ?? '');
          count(`reload ${(await shop.ask('POST', 'catalogue/reload', {})).status}`);
          say(`${number} calls, ${Math.round((performance.now() - startedAt) / 1000)} s`);
        }
        count(await call(random, number).catch((error: unknown) => `no answer: ${String(error).slice(0, 80)}`));
      }
    };
    await Promise.all(Array.from({ length: callers }, work));
    // Whoever did not come back in a day is not waited for: what is owed to them goes back.
    ahead += 86_400_000;
    await settled(shop);
    const accounts = await accountsOf(shop, networks, open);
    return { outcomes, accounts, seconds: (performance.now() - startedAt) / 1000 };
  } finally {
    await shop.gateway.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

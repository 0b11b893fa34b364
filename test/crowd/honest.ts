/** Callers who want what they pay for, and try again when they do not get it. */
import { setTimeout as delay } from 'node:timers/promises';
import { divideUp, type Money, usd } from '../../src/money.ts';
import { openPayer as openMppPayer } from '../../src/rails/mpp/payer.ts';
import { type PaidCall, request, sendProof, signProof, signUpto } from '../clients.ts';
import { inHeader, offersOf, signPayload } from '../exact-offer.ts';
import type { Gateway } from '../gateway.ts';
import { codeOf, keyOf } from './attack.ts';
import { Account } from './ledger.ts';
import type { Plan, Providers } from './providers.ts';
import type { Bank, Wallet } from './wallets.ts';

type Proof = Record<string, string>;

interface Kind {
  /** Endpoint and network, and how it is paid. */
  readonly name: string;
  /** Of how many calls it is one. */
  readonly share: number;
  readonly network: string;
  readonly permit2?: boolean;
  call(gateway: Gateway, mark: string): PaidCall;
  /** `refused` is the answer to an earlier payment for the same: it says what is taken. */
  sign(gateway: Gateway, call: PaidCall, refused?: Response): Promise<Proof>;
}

/** A call that was answered. */
export interface Served {
  readonly kind: string;
  readonly transaction: string;
  /** From the payment to the last byte of the answer. */
  readonly ms: number;
  readonly wallet: Wallet;
}

/** How often something was refused, the first time and the last in minutes since the start. */
export interface Refused {
  readonly times: number;
  readonly from: number;
  readonly to: number;
}

export interface Honest {
  readonly account: Account;
  readonly served: readonly Served[];
  /** Calls that the provider failed, none of which may be charged. */
  readonly failed: number;
  /** Why callers were refused, other than by their provider. */
  readonly refusals: ReadonlyMap<string, Refused>;
  /** How long callers who were refused went without an answer, in milliseconds. */
  readonly refusedFor: readonly number[];
  /** What calls with an API key came to by the provider's count, and what they were charged. */
  keyCalls(): Promise<{ due: Money; charged: Money }>;
  /** One call of somebody's, to its good end. */
  visit(): Promise<void>;
}

export interface HonestOptions {
  readonly gateway: Gateway;
  readonly bank: Bank;
  readonly providers: Providers;
  /** From 0 to 1, the same for the same seed. */
  random(): number;
  /** Whether a provider may leave a call without an answer, which takes as long as the endpoint's deadline. */
  hangs: boolean;
}

async function signExact({ state }: Gateway, { url, init }: PaidCall, network: string): Promise<Proof> {
  const unpaid = await fetch(url, init);
  const offers = offersOf(unpaid);
  await unpaid.arrayBuffer();
  const access = state.evm[network];
  const offer = offers.find((each) => each.scheme === 'exact' && each.network === access?.caip2);
  if (!offer || !access) throw new Error(`${url} is not offered on ${network}: ${unpaid.status}`);
  return inHeader(await signPayload(offer, access.privateKey));
}

async function signMpp({ state }: Gateway, { url, init }: PaidCall): Promise<Proof> {
  const unpaid = await fetch(url, init);
  const proof = await openMppPayer(state, 'chain-c').sign(unpaid);
  if (!unpaid.bodyUsed) await unpaid.arrayBuffer();
  return proof;
}

const exactOn = (network: string) => ({
  network,
  sign: (gateway: Gateway, call: PaidCall) => signExact(gateway, call, network),
});

const pictureOf = (mark: string, more = {}) => ({ prompt: `a harbour at dawn, ${mark}`, ...more });

const KINDS: readonly Kind[] = [
  {
    name: '/image/family-e-2 chain-c',
    share: 30,
    ...exactOn('chain-c'),
    call: (gateway, mark) => request(gateway, '/image/family-e-2', pictureOf(mark)),
  },
  {
    name: '/image/family-e-2 chain-a',
    share: 12,
    network: 'chain-a',
    call: (gateway, mark) => request(gateway, '/image/family-e-2', pictureOf(mark)),
    sign: (gateway, call) => signProof(gateway, 'chain-a', call),
  },
  {
    name: '/chain-e/image/family-e-2 chain-e',
    share: 8,
    ...exactOn('chain-e'),
    call: (gateway, mark) => request(gateway, '/chain-e/image/family-e-2', pictureOf(mark)),
  },
  {
    name: '/mpp/image/family-e-2 chain-c',
    share: 8,
    network: 'chain-c',
    call: (gateway, mark) => request(gateway, '/mpp/image/family-e-2', pictureOf(mark)),
    sign: signMpp,
  },
  {
    name: '/llm/vendor5-k3 chain-c upto',
    share: 12,
    network: 'chain-c',
    permit2: true,
    call: (gateway, mark) => request(gateway, '/llm/vendor5-k3', { prompt: `Why fog? ${mark}`, max_tokens: 500 }),
    sign: (gateway, call, refused) =>
      refused?.headers.has('payment-required') && offersOf(refused).every(({ scheme }) => scheme === 'exact')
        ? signExact(gateway, call, 'chain-c')
        : signUpto(gateway, 'chain-c', call).catch(() => signExact(gateway, call, 'chain-c')),
  },
  {
    name: '/tokens-api/search chain-c',
    share: 12,
    ...exactOn('chain-c'),
    call: (gateway) => request(gateway, '/chain-c-main/tokens-api/search', { q: 'usdc', limit: 5 }),
  },
  {
    name: '/token/news chain-c',
    share: 8,
    ...exactOn('chain-c'),
    call: (gateway) => request(gateway, '/chain-c-main/token/news', { token: 'BONK' }),
  },
];
const KEY_SHARE = 10;
const ALL_SHARES = KINDS.reduce((sum, { share }) => sum + share, KEY_SHARE);

const WALLETS_A_KIND = 10;
const RETURNING_DOLLARS = '200';
const NEW_DOLLARS = '2';
const NEW_SHARE = 0.1;
const KEY_DOLLARS = '50';

const FAULTS: readonly { readonly fault: NonNullable<Plan['fault']>; readonly share: number }[] = [
  { fault: '500', share: 0.02 },
  { fault: 'malformed', share: 0.01 },
  { fault: 'hang', share: 0.003 },
];

const FIRST_PAUSE_MS = 200;
const PATIENCE_MS = 90_000;

/** The words of a problem, without numbers that differ from one to the next. */
function reasonOf(body: string): string {
  const [, reason = body] = /"(?:error|message|detail)":"((?:[^"\\]|\\.)*)"/.exec(body) ?? [];
  return reason.replaceAll(/0x[0-9a-f]+|\d+/gi, '#').slice(0, 120);
}

/** The transaction of a receipt, over x402 or MPP. */
function transactionOf(headers: Headers): string {
  const header = headers.get('payment-response') ?? headers.get('payment-receipt') ?? '';
  const { transaction, reference } = JSON.parse(Buffer.from(header, 'base64').toString());
  return String(transaction ?? reference);
}

export async function openHonest(options: HonestOptions): Promise<Honest> {
  const { gateway, bank, providers, random, hangs } = options;
  const account = new Account('honest');
  const returning = new Map<Kind, Promise<Wallet>[]>();
  const served: Served[] = [];
  const refusedFor: number[] = [];
  const refusals = new Map<string, Refused>();
  const startedAt = performance.now();
  let failed = 0;
  let keyDue: Money = 0n;

  async function newWallet({ network, permit2 = false }: Kind, dollars: string): Promise<Wallet> {
    const wallet = await bank.open(network, usd(dollars), { permit2 });
    account.wallets.push(wallet);
    return wallet;
  }

  function walletFor(kind: Kind): Promise<Wallet> {
    if (random() < NEW_SHARE) return newWallet(kind, NEW_DOLLARS);
    const known = returning.get(kind) ?? [];
    returning.set(kind, known);
    const number = Math.floor(random() * WALLETS_A_KIND);
    const wallet = known[number] ?? newWallet(kind, RETURNING_DOLLARS);
    known[number] = wallet;
    return wallet;
  }

  /** A call that a provider may fail once; sent again, it is another one. */
  function planned(): Plan {
    const chance = random();
    let sum = 0;
    for (const { fault, share } of FAULTS) {
      sum += share;
      if (chance < sum) return fault === 'hang' && !hangs ? { fault: '500' } : { fault };
    }
    return {};
  }

  /**
   * Sends until there is an answer. The same payment goes with the same request; where another is asked for, or the
   * provider has failed, it is a new call.
   */
  async function persist(
    name: string,
    attempt: (refused?: Response) => Promise<{ proof: Proof; call: PaidCall; mark: string }>,
    end: (answer: Response, body: string, ms: number) => void,
  ): Promise<void> {
    let pause = FIRST_PAUSE_MS;
    let refusedSince: number | undefined;
    let { proof, call, mark } = await attempt();
    for (;;) {
      account.calls += 1;
      const sentAt = performance.now();
      const answer = await sendProof(call, proof);
      const body = await answer.text();
      const now = performance.now();
      if (answer.status === 200) {
        account.answered('200');
        if (refusedSince !== undefined) refusedFor.push(now - refusedSince);
        end(answer, body, now - sentAt);
        return;
      }
      const code = codeOf(body);
      const byProvider = providers.hasFailed(mark);
      account.answered(`${answer.status} ${code}${byProvider ? ' (the provider failed)' : ''}`);
      if (byProvider) failed += 1;
      else {
        refusedSince ??= sentAt;
        noteRefusal(`${name}: ${answer.status} ${code}: ${reasonOf(body)}`);
      }
      if (refusedSince !== undefined && now - refusedSince > PATIENCE_MS) {
        refusedFor.push(now - refusedSince);
        account.faults.push(`no answer in the end, but ${answer.status} ${code}`);
        return;
      }
      await delay(pause);
      pause = Math.min(pause * 2, 2_000);
      const isOpen = answer.status === 409 || code === 'result_owed';
      if (!isOpen) ({ proof, call, mark } = await attempt(byProvider ? undefined : answer));
    }
  }

  function noteRefusal(what: string): void {
    const to = (performance.now() - startedAt) / 60_000;
    const { times = 0, from = to } = refusals.get(what) ?? {};
    refusals.set(what, { times: times + 1, from, to });
  }

  async function buy(kind: Kind): Promise<void> {
    const wallet = await walletFor(kind);
    const attempt = async (refused?: Response) => {
      const mark = providers.mark(account, planned());
      const call = kind.call(wallet.gateway, mark);
      return { call, mark, proof: await kind.sign(wallet.gateway, call, refused) };
    };
    await persist(kind.name, attempt, (answer, _body, ms) => {
      served.push({ kind: kind.name, transaction: transactionOf(answer.headers), ms, wallet });
    });
  }

  const keyBuyer = await bank.open('chain-c', usd(KEY_DOLLARS));
  account.wallets.push(keyBuyer);
  const purchase = request(keyBuyer.gateway, '/v1/credits', { amount_usd: KEY_DOLLARS });
  const bought = await sendProof(purchase, await signExact(keyBuyer.gateway, purchase, 'chain-c'));
  const { api_key: apiKey } = (await bought.json()) as { api_key: string };
  const key = keyOf(gateway, apiKey, KEY_DOLLARS);
  account.keys.push(key);
  const purchased = { kind: '', transaction: transactionOf(bought.headers), ms: 0, wallet: keyBuyer };

  async function ask(): Promise<void> {
    const attempt = async () => {
      const mark = providers.mark(account, planned());
      const messages = [{ role: 'user', content: `Why does fog scatter light? ${mark}` }];
      const call = request(gateway, '/v1/chat/completions', { model: 'vendor5-k3', max_tokens: 300, messages });
      return { call, mark, proof: { authorization: `Bearer ${apiKey}` } };
    };
    await persist('API key', attempt, (_answer, body) => {
      const { usage } = JSON.parse(body);
      // 3.30 and 16.50 dollars a million tokens.
      keyDue += divideUp(BigInt(usage.prompt_tokens) * 330n + BigInt(usage.completion_tokens) * 1650n, 100n);
    });
  }

  return {
    account,
    get served() {
      return [purchased, ...served];
    },
    refusals,
    refusedFor,
    get failed() {
      return failed;
    },
    keyCalls: async () => ({ due: keyDue, charged: await key.spent() }),
    async visit() {
      let chance = random() * ALL_SHARES;
      for (const kind of KINDS) {
        chance -= kind.share;
        if (chance < 0) return buy(kind);
      }
      return ask();
    },
  };
}

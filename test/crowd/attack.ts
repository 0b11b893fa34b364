/** What an attack is, and what it has to work with. */
import { usd } from '../../src/money.ts';
import type { Rpc } from '../../src/payment/chains/rpc.ts';
import { type PaidCall, request, sendProof, signProof } from '../clients.ts';
import type { Gateway } from '../gateway.ts';
import type { Files } from './files.ts';
import type { Account, Key } from './ledger.ts';
import type { Plan, Providers } from './providers.ts';
import type { Bank, Wallet } from './wallets.ts';

export interface Attack {
  /** In the table. */
  readonly name: string;
  /** Once, with wallets of its own. Resolves when all of its calls have ended. */
  run(scene: Scene): Promise<void>;
}

/** Of one run. */
export interface Scene {
  readonly gateway: Gateway;
  readonly account: Account;
  readonly files: Files;
  /** So many calls in a long run, fewer in a short one. */
  times(many: number): number;
  /** How long calls of the endpoints without time may take. */
  readonly deadlineMs: number;
  rpc(network: string): Rpc;
  /** Payers whose settlements the facilitator on `chain-e` refuses, and carries out later, by address in lower case. */
  readonly settledLate: Set<string>;
  /** A new wallet with so many dollars. Default: on `chain-c`. */
  newWallet(dollars: string, options?: { network?: string; permit2?: boolean }): Promise<Wallet>;
  /** A new API key, bought by a new wallet. */
  newKey(dollars: string): Promise<Key>;
  /** Words for a prompt by which the providers know the call. */
  mark(plan?: Plan): string;
  /** A provider that answers calls with this mark when it is let go. */
  hold(plan?: Plan): Held;
  /** Sends a call with its payment or key, and notes the answer. */
  send(call: PaidCall, proof: Readonly<Record<string, string>>): Promise<Noted>;
}

export interface Held {
  readonly mark: string;
  /** Resolves once each of these calls has come to the provider, or has ended before. */
  reached(calls: readonly Promise<unknown>[]): Promise<void>;
  release(): void;
}

export interface Noted {
  readonly status: number;
  /** Of a problem. */
  readonly code: string;
  readonly body: string;
  readonly headers: Headers;
}

interface Parts {
  readonly gateway: Gateway;
  readonly providers: Providers;
  readonly files: Files;
  readonly bank: Bank;
  readonly deadlineMs: number;
  readonly settledLate: Set<string>;
  /** What `times` makes of many. */
  readonly scale: number;
}

/** The code of a problem, or the name of a refused payment. */
export function codeOf(body: string): string {
  try {
    const { error, type } = JSON.parse(body);
    return String(error?.code ?? type ?? '').replace(/^.*\//, '');
  } catch {
    return '';
  }
}

/** A picture for 0.06 dollars: what most attacks want for nothing. */
export const PICTURE_DOLLARS = '0.06';
export const picture = (gateway: Gateway, mark: string): PaidCall =>
  request(gateway, '/image/family-e-2', { prompt: `a lighthouse, ${mark}` });

export function openScene(account: Account, parts: Parts): Scene {
  const { gateway, providers, bank, scale, ...rest } = parts;
  account.runs += 1;
  const mark = (plan?: Plan) => providers.mark(account, plan);

  async function send({ url, init }: PaidCall, proof: Readonly<Record<string, string>>): Promise<Noted> {
    account.calls += 1;
    const answer = await sendProof({ url, init }, { ...proof });
    const body = await answer.text();
    const code = answer.status === 200 ? '' : codeOf(body);
    account.answered(`${answer.status} ${code}`.trim());
    return { status: answer.status, code, body, headers: answer.headers };
  }

  async function newWallet(dollars: string, options: { network?: string; permit2?: boolean } = {}) {
    const { network = 'chain-c', ...more } = options;
    const wallet = await bank.open(network, usd(dollars), more);
    account.wallets.push(wallet);
    return wallet;
  }

  return {
    ...rest,
    gateway,
    account,
    times: (many) => Math.max(1, Math.ceil(many * scale)),
    rpc: bank.rpc,
    newWallet,
    async newKey(dollars) {
      const buyer = await newWallet(dollars);
      account.buyers.add(buyer);
      const call = request(buyer.gateway, '/v1/credits', { amount_usd: dollars });
      const answer = await sendProof(call, await signProof(buyer.gateway, 'chain-c', call));
      const body = await answer.text();
      if (answer.status !== 200) throw new Error(`credits were not sold: ${body}`);
      const key = keyOf(gateway, JSON.parse(body).api_key, dollars);
      account.keys.push(key);
      return key;
    },
    mark,
    hold(plan) {
      let arrived = () => {};
      let release = () => {};
      let come = 0;
      const until = new Promise<void>((resolve) => {
        release = resolve;
      });
      const reached = () => {
        come += 1;
        arrived();
      };
      return {
        mark: mark({ ...plan, until, reached }),
        reached: (calls) =>
          new Promise((resolve) => {
            let ended = 0;
            arrived = () => {
              if (come + ended >= calls.length) resolve();
            };
            const end = () => {
              ended += 1;
              arrived();
            };
            for (const call of calls) call.then(end, end);
            arrived();
          }),
        release,
      };
    },
    send,
  };
}

/** A key that so many dollars were paid for. */
export function keyOf(gateway: Gateway, apiKey: string, dollars: string): Key {
  const left = async () => {
    const headers = { authorization: `Bearer ${apiKey}` };
    for (;;) {
      const answer = await fetch(`${gateway.url}/v1/credits`, { headers });
      const { balance_usd, held_usd } = (await answer.json()) as { balance_usd: string; held_usd: string };
      if (held_usd === '0') return usd(balance_usd);
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  };
  return { apiKey, left, spent: async () => usd(dollars) - (await left()) };
}

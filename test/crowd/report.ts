/** What came of it all, from the chains, the store and the providers. */

import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isJsonObject } from '../../src/json.ts';
import { type Money, type Rate, rateToMoney, usd } from '../../src/money.ts';
import { openSqliteStore } from '../../src/store/engines/sqlite.ts';
import type { Payment } from '../../src/store/store.ts';
import type { Gateway } from '../gateway.ts';
import { lostLamports, senderOf, sentBy } from './chain-costs.ts';
import type { Honest } from './honest.ts';
import { type Account, sum } from './ledger.ts';
import type { Providers } from './providers.ts';
import type { Bank } from './wallets.ts';

export interface AttackFigures {
  readonly name: string;
  readonly runs: number;
  readonly calls: number;
  readonly upstreamCalls: number;
  /** What providers and chains cost the operator for it. */
  readonly cost: Money;
  readonly paid: Money;
  readonly answers: ReadonlyMap<string, number>;
  readonly faults: readonly string[];
  /** Bytes of answers that are kept although nobody paid for them. */
  readonly kept: number;
}

export const lossOf = ({ cost, paid }: Pick<AttackFigures, 'cost' | 'paid'>): Money => (cost > paid ? cost - paid : 0n);

/** Calls of one endpoint on one network that settled after the work, or before it, in milliseconds. */
export interface Latencies {
  readonly kind: string;
  readonly after: readonly number[];
  readonly upfront: readonly number[];
}

export interface Report {
  readonly seconds: number;
  readonly attacks: readonly AttackFigures[];
  readonly honest: {
    readonly calls: number;
    readonly served: number;
    readonly answers: ReadonlyMap<string, number>;
    readonly revenue: Money;
    /** Calls that their provider failed. */
    readonly failed: number;
    readonly refusals: Honest['refusals'];
    readonly refusedFor: readonly number[];
    /** What left wallets and keys without an answer for it, and is not owed. */
    readonly chargedForNothing: Money;
    /** What was paid first for what the provider fails to give: listed, so that it is given back. */
    readonly owed: Money;
    readonly latencies: readonly Latencies[];
    readonly faults: readonly string[];
  };
  readonly loss: Money;
  /** Network -> what its pay-to address gained, and what all wallets of the crowd paid. */
  readonly networks: ReadonlyMap<string, { readonly gained: bigint; readonly paid: bigint }>;
  /** Upstream -> its billed calls as the sandbox counts them, and as they passed. */
  readonly upstreams: ReadonlyMap<string, { readonly counted: number; readonly passed: number }>;
}

export interface ReportParts {
  readonly gateway: Gateway;
  readonly bank: Bank;
  readonly providers: Providers;
  readonly honest: Honest;
  readonly attackers: readonly Account[];
  readonly seconds: number;
  /** What the fee payer on Solana had at the start, in lamports. */
  readonly lamports: bigint;
}

/** Reading a gigabyte costs nine cents, which is what clouds ask for sending it. */
const BYTE_COST: Rate = 90n;
/** What is unknown still, nobody can have been charged for. */
const OPEN = ['claimed', 'fulfilled'] as const;
const PATIENCE_MS = 90_000;

/** Every payment, once none is under way any more. */
async function endedPayments(directory: string): Promise<Payment[]> {
  const store = openSqliteStore(join(directory, 'turnpike.sqlite'));
  try {
    const until = performance.now() + PATIENCE_MS;
    while (performance.now() < until && (await store.list({ states: OPEN, limit: 1 })).length > 0) await delay(500);
    return await store.list({ limit: 1_000_000 });
  } finally {
    await store.close();
  }
}

export async function lamportsOf(bank: Bank, feePayer: string): Promise<bigint> {
  const answer = await bank.rpc('chain-a')('getBalance', [feePayer]);
  return isJsonObject(answer) ? BigInt(Number(answer.value)) : 0n;
}

/** The fee payer on Solana, as the gateway offers it. */
export async function feePayerOf({ url }: Gateway): Promise<string> {
  const unpaid = await fetch(`${url}/image/family-e-2`, { method: 'POST' });
  const { accepts } = (await unpaid.json()) as { accepts: { extra: { feePayer?: string } }[] };
  return accepts.find(({ extra }) => extra.feePayer)?.extra.feePayer ?? '';
}

/** Adds to each account what was sent to the chains for its wallets. */
async function chargeSettling({ gateway, bank, attackers, lamports }: ReportParts, payments: readonly Payment[]) {
  for (const network of Object.keys(gateway.state.evm)) {
    const settled = payments.find((payment) => payment.network === network && payment.receipt);
    if (!settled?.receipt) continue;
    const rpc = bank.rpc(network);
    const sent = await sentBy(rpc, await senderOf(rpc, settled.receipt.transaction));
    for (const account of attackers) {
      const own = account.wallets.filter((wallet) => wallet.network === network && !account.buyers.has(wallet));
      const words = own.map(({ address }) => address.slice(2).toLowerCase());
      account.settling += sum(
        sent.filter(({ input }) => words.some((word) => input.includes(word))).map(({ cost }) => cost),
      );
    }
  }
  const solana = attackers.find(({ name }) => name.startsWith('Lighthouse'));
  if (solana) {
    const lost = lamports - (await lamportsOf(bank, await feePayerOf(gateway)));
    const { settlements } = await gateway.calls();
    solana.settling += lostLamports(lost, settlements['chain-a'] ?? 0);
  }
}

const addressesOf = ({ wallets }: Account): Set<string> => new Set(wallets.map(({ address }) => address.toLowerCase()));

function keptFor(account: Account, payments: readonly Payment[]): number {
  const own = addressesOf(account);
  const unpaid = payments.filter(({ payer, receipt }) => !receipt && own.has(payer.toLowerCase()));
  return unpaid.reduce((bytes, { answer }) => bytes + (answer?.body.length ?? 0), 0);
}

export async function report(parts: ReportParts): Promise<Report> {
  const { gateway, providers, honest, attackers, seconds } = parts;
  const payments = await endedPayments(gateway.directory);
  await chargeSettling(parts, payments);
  const attacks = await Promise.all(
    attackers.map(async (account): Promise<AttackFigures> => {
      const { name, runs, calls, upstreamCalls, answers, faults, bytes } = account;
      const cost = rateToMoney(account.cost + account.settling + BigInt(bytes) * BYTE_COST);
      return {
        name,
        runs,
        calls,
        upstreamCalls,
        cost,
        paid: await account.paid(),
        answers,
        faults,
        kept: keptFor(account, payments),
      };
    }),
  );

  const bySettlement = new Map(
    payments.flatMap((payment) => (payment.receipt ? [[payment.receipt.transaction, payment]] : [])),
  );
  const latencies = new Map<string, { kind: string; after: number[]; upfront: number[] }>();
  let answeredFor = 0n;
  for (const { kind, transaction, ms } of honest.served) {
    const payment = bySettlement.get(transaction);
    answeredFor += BigInt(payment?.receipt?.amount ?? '0');
    if (kind === '') continue;
    const row = latencies.get(kind) ?? { kind, after: [], upfront: [] };
    latencies.set(kind, row);
    (payment?.settleUpfront ? row.upfront : row.after).push(ms);
  }
  const own = addressesOf(honest.account);
  const owing = payments.filter(({ state, payer }) => state === 'owed' && own.has(payer.toLowerCase()));
  const owed = sum(owing.map(({ receipt }) => BigInt(receipt?.amount ?? '0')));
  const sent = sum(await Promise.all(honest.account.wallets.map((wallet) => wallet.paid())));
  const { due, charged } = await honest.keyCalls();

  const networks = new Map<string, { gained: bigint; paid: bigint }>();
  const wallets = [honest.account, ...attackers].flatMap((account) => account.wallets);
  for (const network of [...Object.keys(gateway.state.evm), 'chain-a']) {
    const own = wallets.filter((wallet) => wallet.network === network);
    const paid = sum(await Promise.all(own.map((wallet) => wallet.paid())));
    networks.set(network, { gained: await gateway.earned(network), paid });
  }
  const { upstreams: counted } = await gateway.calls();
  return {
    seconds,
    attacks,
    honest: {
      calls: honest.account.calls,
      served: honest.account.answers.get('200') ?? 0,
      answers: honest.account.answers,
      revenue: await honest.account.paid(),
      failed: honest.failed,
      refusals: honest.refusals,
      refusedFor: honest.refusedFor,
      chargedForNothing: sent - answeredFor - owed + (charged - due),
      owed,
      latencies: [...latencies.values()].sort((one, other) => one.kind.localeCompare(other.kind)),
      faults: honest.account.faults,
    },
    loss: sum(attacks.map(lossOf)),
    networks,
    upstreams: new Map(
      Object.entries(providers.calls).map(([name, passed]) => [name, { counted: counted[name] ?? 0, passed }]),
    ),
  };
}

/** Refused for so long, a caller goes elsewhere. */
const FEW_SECONDS_MS = 5_000;

export interface Verdict {
  readonly text: string;
  readonly holds: boolean;
}

export function verdicts({ honest, loss, networks, upstreams, attacks }: Report): Verdict[] {
  const longest = Math.max(0, ...honest.refusedFor);
  return [
    { text: 'the operator lost less than one per cent of the revenue', holds: loss * 100n < honest.revenue },
    {
      text: 'no honest payer was charged for a failure, unless it is listed as owed',
      holds: honest.chargedForNothing === 0n,
    },
    { text: 'no honest call was refused for more than a few seconds', holds: longest <= FEW_SECONDS_MS },
    {
      text: 'what was paid is what pay-to addresses gained, to the unit',
      holds: [...networks.values()].every(({ gained, paid }) => gained === paid),
    },
    {
      text: 'providers were asked as often as the sandbox counts',
      holds: [...upstreams.values()].every(({ counted, passed }) => counted === passed),
    },
    {
      text: 'nothing went otherwise than promised',
      holds: [honest, ...attacks].every(({ faults }) => faults.length === 0),
    },
  ];
}

/** What one payer without a record may take before it settles first, and all together in an hour: see `exposure` in the README. */
export const BOUNDS = { unproven: usd('0.50'), perHour: usd('2.00') } as const;

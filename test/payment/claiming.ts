/**
 * A gateway that claims payments, for tests of who may: its store and its exposure control are the real ones; payers, chain
 * and facilitator say what the test has them say.
 */
import type { Test } from 'tap';
import type { ExposureFile } from '../../src/catalogue/types.ts';
import { createLog } from '../../src/log.ts';
import { createMetrics } from '../../src/metrics/metrics.ts';
import { type Settlement, unknown } from '../../src/on-chain/settlement.ts';
import type { Replay } from '../../src/payment/bought.ts';
import { type ClaimedPayment, claimPayment } from '../../src/payment/claim.ts';
import { createExposureControl } from '../../src/payment/exposure/control.ts';
import { exposurePolicy } from '../../src/payment/exposure/policy.ts';
import { usualIntervals } from '../../src/payment/intervals.ts';
import type { Credential, Quote, Rail, VerifiedPayment } from '../../src/payment/rail.ts';
import { requestDigest } from '../../src/payment/request-digest.ts';
import type { GatewayRequest } from '../../src/request/request.ts';
import { openSqliteStore } from '../../src/store/engines/sqlite.ts';
import type { Claim, ClaimOptions, Payment, PaymentFacts, Receipt, Store } from '../../src/store/store.ts';
import { existing, won } from '../store/arrivals.ts';
import { sampleAnswer, sampleFacts } from '../store/samples.ts';
import { mppRoute } from './mpp/route.ts';

export const START = 1_000_000_000;
export const LEASE_MS = 30_000;
/** Atomic units, and millionths of a dollar. */
export const PRICE = 50_000n;

export const SETTLED: Settlement = { state: 'settled', transaction: '0xmoved', amount: PRICE };

/** No test here takes so many turns: who does goes round in circles. */
const MOST_TURNS = 60;

const REQUEST: GatewayRequest = {
  transport: 'http',
  method: 'POST',
  path: '/mpp/a',
  query: '',
  headers: {},
  body: Buffer.from('{}'),
};

export const request = (changes: Partial<GatewayRequest> = {}): GatewayRequest => ({ ...REQUEST, ...changes });
export const another = request({ body: Buffer.from('{"another":1}') });

/** What an earlier attempt at a payment came to. */
export type Progress =
  | 'claimed'
  | 'settling first'
  | 'fulfilled'
  | 'settled first'
  | 'settled'
  | 'released'
  | 'owed'
  | 'refused by the provider'
  | 'unsettled'
  | 'unknown'
  | 'unknown and answered'
  | 'given back';

const SETTLES_FIRST: ReadonlySet<Progress> = new Set([
  'settling first',
  'settled first',
  'owed',
  'refused by the provider',
  'unknown',
  'given back',
]);

export interface Left {
  readonly id?: string;
  /** Times that it was tried. */
  readonly attempts?: number;
  readonly request?: GatewayRequest;
  readonly facts?: Partial<PaymentFacts>;
  readonly options?: Partial<ClaimOptions>;
}

export interface Claims {
  readonly store: Store;
  readonly clock: { now: number };
  /** How payers, chain and facilitator behave, and what happens meanwhile; changed by tests. */
  readonly world: {
    /** What its chain says of every payment that somebody asks about. */
    chain: Settlement;
    verified: Partial<VerifiedPayment>;
    /** Thrown by who verifies. */
    refusal: Error | undefined;
    gate: { arrives(): void; waits(): boolean; identified(payer: string): void };
    whileVerifying(): Promise<void>;
    /** Before the store's methods do anything. */
    before: { [Method in 'find' | 'cached' | 'settle' | 'claim']?: () => Promise<void> };
  };
  /** What was done, in order. */
  readonly seen: string[];
  readonly noted: [string, number][];
  /** The gateway has to stop. */
  stop(): void;
  claim(credential?: Partial<Credential>, quote?: Partial<Quote>): Promise<ClaimedPayment | Replay>;
  /** A payment that an earlier attempt of another instance left so. */
  left(progress: Progress, left?: Left): Promise<Claim>;
  /** What was claimed goes on to that. */
  bring(claim: Claim, progress: Progress): Promise<void>;
  payment(id?: string): Promise<Payment>;
  /** Atomic units that payers without a record may have under way still. */
  unproven(): bigint;
  refresh(): Promise<void>;
  /** Somebody's work that nobody will pay for: a loss, in atomic units. */
  lose(amount: bigint, facts?: Partial<PaymentFacts>): Promise<void>;
}

export const receiptOf = (transaction: string): Receipt => ({
  transaction,
  amount: PRICE.toString(),
  settledAt: START,
  details: {},
});

export function openClaims(t: Test, exposure: ExposureFile = {}, waitMs = 0): Claims {
  const clock = { now: START };
  const now = () => clock.now;
  const store = openSqliteStore(':memory:', { now });
  t.teardown(() => store.close());
  const log = createLog('silent');
  const control = createExposureControl({
    policy: exposurePolicy(exposure),
    store,
    idOf: (network) => network,
    worth: ({ amount }) => BigInt(amount),
    metrics: createMetrics(),
    log,
    now,
  });
  const seen: string[] = [];
  const noted: [string, number][] = [];
  const world: Claims['world'] = {
    chain: unknown('no answer'),
    verified: {},
    refusal: undefined,
    gate: {
      arrives: () => seen.push('arrives'),
      waits: () => true,
      identified: (payer) => seen.push(`is ${payer}`),
    },
    whileVerifying: async () => {},
    before: {},
  };
  let turns = 0;
  const turn = () => {
    turns += 1;
    if (turns > MOST_TURNS) throw new Error('this goes round in circles');
  };

  const rail = {
    name: 'mpp',
    async verify(_credential, _quote, settlesNow = false) {
      turn();
      seen.push(settlesNow ? 'verified to settle now' : 'verified');
      await world.whileVerifying();
      if (world.refusal) throw world.refusal;
      return {
        network: 'chain-a',
        asset: 'asset-1',
        payer: 'payer-1',
        payTo: 'merchant-1',
        amount: PRICE,
        decimals: 6,
        scheme: 'exact',
        upfront: undefined,
        offeredAt: START,
        canSettleUpfront: true,
        holder: { isContract: false, balance: async () => 10n ** 12n },
        payerIsProven: true,
        recoveryQuery: '{}',
        settle: async () => SETTLED,
        ...world.verified,
      };
    },
    async recover() {
      seen.push('its chain is asked');
      return world.chain;
    },
    receipt: (_query, { transaction, amount }, settledAt) => ({
      transaction,
      amount: amount.toString(),
      settledAt,
      details: {},
    }),
  } satisfies Partial<Rail> as unknown as Rail;

  const watched: Store = {
    ...store,
    async find(id) {
      turn();
      await world.before.find?.();
      return store.find(id);
    },
    async cached(...args) {
      await world.before.cached?.();
      return store.cached(...args);
    },
    async claim(...args) {
      await world.before.claim?.();
      return store.claim(...args);
    },
    async settle(...args) {
      await world.before.settle?.();
      return store.settle(...args);
    },
  };
  const stopping = new AbortController();

  async function left(progress: Progress, { id = 'p', attempts = 1, ...more }: Left = {}): Promise<Claim> {
    const facts = sampleFacts(id, {
      rail: 'mpp',
      amount: PRICE.toString(),
      requestDigest: requestDigest(more.request ?? REQUEST),
      fingerprint: `fingerprint of ${id}`,
      recoveryQuery: '{}',
      settleUpfront: SETTLES_FIRST.has(progress),
      ...more.facts,
    });
    let claim: Claim | undefined;
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      if (claim) await store.giveUp(claim, 'released', 'tried before', now());
      const terms = {
        owner: 'another',
        now: now(),
        leaseUntil: now() + LEASE_MS,
        maxAttempts: 99,
        maxOwedAttempts: 99,
      };
      claim = await won(store, facts, { ...terms, ...more.options });
    }
    if (!claim) throw new Error('it was not tried');
    await bring(claim, progress);
    return claim;
  }

  async function bring(claim: Claim, progress: Progress): Promise<void> {
    const fulfil = () => store.fulfil(claim, sampleAnswer(), { now: now() });
    const settle = () => store.settle(claim, receiptOf('0xearlier'), now());
    const giveUp = (state: 'released' | 'owed' | 'unsettled' | 'unknown', reason: string) =>
      store.giveUp(claim, state, reason, now());
    switch (progress) {
      case 'claimed':
      case 'settling first':
        return;
      case 'fulfilled':
        await fulfil();
        return;
      case 'settled first':
        await settle();
        return;
      case 'settled':
        await fulfil();
        await settle();
        return;
      case 'released':
        await giveUp('released', 'upstream_failed');
        return;
      case 'owed':
        await settle();
        await giveUp('owed', 'upstream_failed');
        return;
      case 'refused by the provider':
        await settle();
        await giveUp('owed', 'content_refused');
        return;
      case 'unsettled':
        await giveUp('unsettled', 'it expired');
        return;
      case 'unknown':
        await giveUp('unknown', 'no answer');
        return;
      case 'unknown and answered':
        await fulfil();
        await giveUp('unknown', 'no answer');
        return;
      case 'given back':
        await settle();
        await giveUp('owed', 'upstream_failed');
        await store.refunds.want({ paymentId: claim.id, reason: 'a test', isAutomatic: false, now: now() });
    }
  }

  return {
    store,
    clock,
    world,
    seen,
    noted,
    left,
    bring,
    stop: () => stopping.abort(),
    payment: (id = 'p') => existing(store, id),
    claim({ id = 'p', ...credential } = {}, quote = {}) {
      const parts = {
        store: watched,
        exposure: control,
        owner: 'here',
        intervals: { ...usualIntervals, leaseMs: LEASE_MS, waitMs },
        gate: world.gate,
        stopping: stopping.signal,
        decimalsOf: () => 6,
        noted: (step: string, ms: number) => {
          noted.push([step, ms]);
        },
        now,
      };
      const shown = { id, fingerprint: `fingerprint of ${id}`, isPrivate: true, ...credential };
      return claimPayment(parts, rail, shown, {
        route: mppRoute('/mpp/a'),
        amount: PRICE,
        networks: [],
        deadlineMs: 1_000,
        isSecret: false,
        request: REQUEST,
        ...quote,
      });
    },
    unproven() {
      const { limits, release } = control.reserve(0n, 6);
      release();
      return limits.unproven;
    },
    refresh: control.refresh,
    async lose(amount, facts = {}) {
      const id = `lost ${amount}`;
      const lost = await left('fulfilled', {
        id,
        facts: { payer: 'loser', route: 'another', amount: `${amount}`, ...facts },
      });
      await store.giveUp(lost, 'unsettled', 'taken back', now());
      await control.refresh();
    },
  };
}

/** Small enough that everything in them can be searched within seconds, together large enough for every step to be met. */
import { arrival, quiet, type SettledScenario } from './scenario.ts';

const after = { isUpfront: false };
const first = { isUpfront: true };

const anyAnswer = {
  upstream: ['answers', 'fails'],
  settlement: ['settles', 'refuses', 'sends it and says nothing'],
} as const;
const goodAnswer = { upstream: ['answers'], settlement: ['settles'] } as const;
const anyUpstream = { ...goodAnswer, upstream: ['answers', 'fails'] } as const;
const lateSettlement = { ...goodAnswer, settlement: ['settles', 'sends it and says nothing'] } as const;

const oneProof = { arrivals: [arrival('A'), arrival('B')] };
const oneInstance = { arrivals: [arrival('A'), arrival('B', { instance: 'A' })] };
const twoBodies = { arrivals: [arrival('A'), arrival('B', { prompt: 'y' })] };
const sentAgain = { arrivals: [arrival('A'), arrival('B', { after: 'A' })] };
const oneKey = {
  arrivals: [arrival('A', { idempotencyKey: 'k' }), arrival('B', { payment: 'q', idempotencyKey: 'k' })],
};
const oneIdentifier = {
  arrivals: [arrival('A', { identifier: 'i' }), arrival('B', { payment: 'q', identifier: 'i' })],
};
const sixInARow = {
  arrivals: ['A', 'B', 'C', 'D', 'E', 'F'].map((name, place, names) => {
    const before = names[place - 1];
    return arrival(name, before === undefined ? {} : { after: before });
  }),
};

export const scenarios: readonly SettledScenario[] = [
  {
    ...quiet,
    ...oneProof,
    ...after,
    ...anyAnswer,
    name: 'one proof at two instances, one dies',
    least: 300_000,
    crashes: 1,
  },
  {
    ...quiet,
    ...oneProof,
    ...first,
    ...anyAnswer,
    name: 'settled first: one proof at two instances, one dies',
    least: 150_000,
    crashes: 1,
  },
  {
    ...quiet,
    ...oneProof,
    ...after,
    ...goodAnswer,
    name: 'one proof at two instances, one sleeps',
    least: 90_000,
    sleeps: 1,
  },
  {
    ...quiet,
    ...oneProof,
    ...first,
    ...goodAnswer,
    name: 'settled first: one proof at two instances, one sleeps',
    least: 80_000,
    sleeps: 1,
  },
  {
    ...quiet,
    ...sentAgain,
    ...after,
    ...lateSettlement,
    name: 'one proof again after a sleep, settlements without an answer',
    least: 8_000,
    sleeps: 1,
  },
  { ...quiet, ...oneInstance, ...after, ...anyAnswer, name: 'one proof twice at one instance', least: 100_000 },
  {
    ...quiet,
    ...twoBodies,
    ...after,
    ...anyAnswer,
    name: 'one proof with two bodies, one instance dies',
    least: 30_000,
    crashes: 1,
  },
  {
    ...quiet,
    ...oneKey,
    ...after,
    ...anyAnswer,
    name: 'two payments under one Idempotency-Key, one instance dies',
    least: 25_000,
    crashes: 1,
  },
  {
    ...quiet,
    ...oneKey,
    ...first,
    ...goodAnswer,
    name: 'settled first: two payments under one Idempotency-Key, one instance sleeps',
    least: 40_000,
    sleeps: 1,
  },
  {
    ...quiet,
    ...oneIdentifier,
    ...after,
    ...anyAnswer,
    name: 'two payments under one payment-identifier, one instance dies',
    least: 60_000,
    crashes: 1,
  },
  {
    ...quiet,
    ...sentAgain,
    ...after,
    ...anyUpstream,
    name: 'the reconciler beside a payer who comes back after a crash',
    least: 5_000,
    crashes: 1,
    reconciles: 1,
  },
  {
    ...quiet,
    ...sentAgain,
    ...first,
    ...goodAnswer,
    name: 'settled first: the reconciler beside a payer who comes back, a node that is silent',
    least: 4_000,
    crashes: 1,
    reconciles: 1,
    silences: 1,
  },
  {
    ...quiet,
    ...sentAgain,
    ...after,
    ...goodAnswer,
    name: 'the reconciler beside an instance that sleeps',
    least: 5_000,
    sleeps: 1,
    reconciles: 1,
  },
  {
    ...quiet,
    ...oneProof,
    ...after,
    ...goodAnswer,
    upstream: ['answers', 'never answers'],
    name: 'a provider that never answers',
    least: 2_000,
    crashes: 1,
  },
  {
    ...quiet,
    ...sixInARow,
    ...after,
    ...goodAnswer,
    upstream: ['kills its caller'],
    name: 'a request that kills its process',
    least: 1,
  },
];

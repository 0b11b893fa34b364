/** Calls that are drawn from one channel, with what its payer and the gateway do with it besides. */
import { usd } from '../../src/money.ts';
import { arrival, type ChannelScenario, quiet } from './scenario.ts';

const someUpstream = { upstream: ['answers', 'fails'] } as const;
const goodUpstream = { upstream: ['answers'] } as const;
const LESS = usd('0.004');
const drawn = { holds: 2, transactions: ['lands'], vouchers: { first: { calls: 1 }, second: { calls: 2 } } } as const;
const anyEnd = ['lands', 'is turned down', 'has no answer'] as const;
const opened = { holds: 0, transactions: anyEnd, vouchers: { first: { calls: 1, deposits: 10 } } };
const drawnOnce = { arrivals: [arrival('A', { payment: 'first' }), arrival('B', { payment: 'first' })] };
const drawnForTwo = {
  arrivals: [arrival('A', { payment: 'first' }), arrival('B', { payment: 'first', prompt: 'y' })],
};
const drawnInARow = {
  arrivals: [arrival('A', { payment: 'first' }), arrival('B', { payment: 'second', prompt: 'y' })],
};
const drawnByThree = {
  arrivals: [...drawnForTwo.arrivals, arrival('C', { payment: 'second', prompt: 'z', after: 'A' })],
};
const drawnMeanwhile = {
  arrivals: [arrival('A', { payment: 'first' }), arrival('B', { payment: 'first', prompt: 'y', comesLate: true })],
};
const drawnAlone = { arrivals: [arrival('A', { payment: 'first' })] };
const drawnNext = {
  arrivals: [arrival('A', { payment: 'first' }), arrival('B', { payment: 'second', after: 'A' })],
};
const drawnAgain = { arrivals: [arrival('A', { payment: 'first' }), arrival('B', { payment: 'first', after: 'A' })] };
export const channelScenarios: readonly ChannelScenario[] = [
  {
    ...quiet,
    ...drawnOnce,
    ...someUpstream,
    channel: drawn,
    name: 'from a channel: one voucher at two instances, one dies',
    least: 1_200,
    crashes: 1,
  },
  {
    ...quiet,
    ...drawnOnce,
    ...goodUpstream,
    channel: drawn,
    name: 'from a channel: one voucher at two instances, one sleeps',
    least: 9_500,
    sleeps: 1,
  },
  {
    ...quiet,
    ...drawnForTwo,
    ...someUpstream,
    channel: drawn,
    name: 'from a channel: one voucher for two requests, one instance dies',
    least: 1_400,
    crashes: 1,
  },
  {
    ...quiet,
    ...drawnForTwo,
    ...someUpstream,
    channel: drawn,
    name: 'from a channel: one voucher for two requests, one instance sleeps',
    least: 12_000,
    sleeps: 1,
  },
  {
    ...quiet,
    ...drawnByThree,
    ...someUpstream,
    channel: drawn,
    name: 'from a channel: one voucher for two requests and the next, one instance dies',
    least: 20_000,
    crashes: 1,
  },
  {
    ...quiet,
    ...drawnMeanwhile,
    ...someUpstream,
    channel: { ...drawn, use: LESS },
    name: 'from a channel by use: another request after a crash, beside the reconciler',
    least: 5_700,
    crashes: 1,
    reconciles: 1,
  },
  {
    ...quiet,
    ...drawnForTwo,
    ...someUpstream,
    channel: opened,
    name: 'from a channel: one deposit for two requests, transactions without an answer',
    least: 310_000,
  },
  {
    ...quiet,
    ...drawnAgain,
    ...someUpstream,
    channel: opened,
    name: 'from a channel: a deposit again after a crash, a node that is silent',
    least: 1_100,
    crashes: 1,
    silences: 1,
  },
  {
    ...quiet,
    ...drawnAlone,
    ...goodUpstream,
    channel: { ...opened, transactions: ['lands', 'has no answer'] },
    name: 'from a channel: the reconciler beside a deposit whose instance sleeps',
    least: 45_000,
    sleeps: 1,
    reconciles: 1,
  },
  {
    ...quiet,
    ...drawnInARow,
    ...goodUpstream,
    channel: { ...drawn, transactions: anyEnd, besides: ['claim'] },
    name: 'from a channel: a voucher and the next beside a claim, one instance dies',
    least: 110_000,
    crashes: 1,
  },
  {
    ...quiet,
    ...drawnAlone,
    ...someUpstream,
    channel: { ...drawn, transactions: anyEnd, besides: [{ refundAfter: 0 }] },
    name: 'from a channel: a refund beside a call, one instance dies',
    least: 2_800,
    crashes: 1,
  },
  {
    ...quiet,
    ...drawnNext,
    ...goodUpstream,
    channel: { ...drawn, transactions: anyEnd, besides: [{ refundAfter: 1 }] },
    name: 'from a channel: a refund between a call and the next',
    least: 60_000,
    silences: 1,
  },
  {
    ...quiet,
    ...drawnAlone,
    ...goodUpstream,
    channel: { ...drawn, besides: [{ refundAfter: 0 }] },
    name: 'from a channel: a refund beside a call, one instance sleeps',
    least: 21_000,
    sleeps: 1,
  },
  {
    ...quiet,
    ...drawnAlone,
    ...goodUpstream,
    channel: { ...drawn, besides: [{ refundAfter: 1 }, 'claim'] },
    name: 'from a channel: a refund and a claim beside a call',
    least: 37_000,
  },
];

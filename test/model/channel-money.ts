/** Calls that are drawn from one channel: the gateway's own x402 rail, claims and refunds, on a chain of the model's. */

import { type Money as Dollars, toAtomic } from '../../src/money.ts';
import type { ChannelConfig } from '../../src/on-chain/channel-config.ts';
import { channelId, WITHDRAW_DELAY } from '../../src/payment/channels/channel.ts';
import { openChannelClaims } from '../../src/payment/channels/claims.ts';
import type { PayableNetwork, PayableNetworks } from '../../src/payment/networks.ts';
import { openX402Rail } from '../../src/rails/x402/rail.ts';
import { encodeHeader } from '../../src/rails/x402/wire.ts';
import type { Channel } from '../../src/store/channels/channel-store.ts';
import { openChannelChain, signatureOf } from './channel-chain.ts';
import { faultOfChannelCalls, faultOfCharges } from './channel-rules.ts';
import type { Instance } from './instance.ts';
import type { Money, RailParts } from './money.ts';
import type { Await } from './operation.ts';
import { OWN } from './rail.ts';
import type { ChannelScenario, Voucher } from './scenario.ts';
import { PRICE, soldBy } from './sold.ts';

const NETWORK = 'model-chain';
const CHAIN_ID = 84_532;
const CAIP2 = `eip155:${CHAIN_ID}`;
const DECIMALS = 6;

const address = (digit: string): string => `0x${digit.repeat(40)}`;
const word = (digit: string): string => `0x${digit.repeat(64)}`;

const config: ChannelConfig = {
  payer: address('a'),
  payerAuthorizer: address('a'),
  receiver: address('b'),
  receiverAuthorizer: address('c'),
  token: address('d'),
  withdrawDelay: WITHDRAW_DELAY,
  salt: word('0'),
};
const CHANNEL = channelId(CHAIN_ID, config);
const facts = { id: CHANNEL, network: NETWORK, payer: config.payer, config: JSON.stringify(config) };
const FOREIGN_SIGNATURE = `${word('f')}00`;

const atomic = (amount: Dollars): bigint => toAtomic(amount, DECIMALS);
const priceOf = (calls: number): bigint => atomic(PRICE) * BigInt(calls);

/** Vouchers are claimed as soon as anything is owed. */
const intervals = { claims: { everyMs: 0, afterMs: 0, readEveryMs: 0, takenMs: 300_000 } };
const log = { debug() {}, info() {}, warn() {}, error() {} };
const gate = { asks() {}, arrives() {}, returns() {}, refused() {}, returned() {} };

const notAsked = () => Promise.reject(new Error('no facilitator is asked'));

function networksFor(operator: () => ReturnType<ReturnType<typeof openChannelChain>['operator']>): PayableNetworks {
  const asset = { address: config.token, symbol: 'USD', name: 'USD', version: '2', decimals: DECIMALS };
  const network: PayableNetwork = {
    id: NETWORK,
    family: 'evm',
    caip2: CAIP2,
    v1Name: undefined,
    asset,
    payTo: config.receiver,
    authorizationLastsMs: undefined,
    rpcUrl: 'http://model.invalid',
    facilitator: { supported: notAsked, verify: notAsked, settle: notAsked, close: async () => {} },
    extra: {},
    upto: undefined,
    hold: undefined,
    takesApprovals: false,
    channels: { extra: {}, operator: async () => operator() },
  };
  return {
    find: () => network,
    all: () => [network],
    ids: [NETWORK],
    named: () => network,
    configured: () => network,
    decimals: () => DECIMALS,
    version: 1,
    leastPrice: () => 0n,
    refresh: async () => {},
    weigh: async () => {},
  };
}

/** What a payer sends, in the header that carries it. */
function proofOf(max: bigint, by: string, { deposits, refunds = false }: { deposits?: bigint; refunds?: boolean }) {
  const signature = by === OWN ? signatureOf(max) : FOREIGN_SIGNATURE;
  const voucher = { channelId: CHANNEL, maxClaimableAmount: max.toString(), signature };
  const type = refunds ? 'refund' : deposits === undefined ? 'voucher' : 'deposit';
  const authorization = { validAfter: '0', validBefore: '9999999999', salt: word('1'), signature: FOREIGN_SIGNATURE };
  const deposit = { amount: String(deposits), authorization: { erc3009Authorization: authorization } };
  const payload = { type, channelConfig: config, voucher, ...(deposits !== undefined && { deposit }) };
  const accepted = {
    scheme: 'batch-settlement',
    network: CAIP2,
    amount: refunds ? '0' : priceOf(1).toString(),
    asset: config.token,
    payTo: config.receiver,
    maxTimeoutSeconds: 300,
    extra: {},
  };
  return { 'payment-signature': encodeHeader({ x402Version: 2, accepted, payload }) };
}

export function openChannelMoney({ channel: terms, silences }: ChannelScenario, time: () => number): Money {
  const { vouchers, holds, transactions, use, besides = [] } = terms;
  const chain = openChannelChain({ config, balance: priceOf(holds), transactions, silences, time });
  const settled = new Set<string>();
  const names = new Map<string, string>();
  const requests: string[] = [];
  /** Until when somebody has it for a claim or a refund: the store tells nobody. */
  const taken = new Map<string, number>();
  let kept: Channel | undefined;
  const hasRefunds = besides.some((each) => each !== 'claim');

  function voucherOf(name: string): Voucher {
    const voucher = vouchers[name];
    if (!voucher) throw new Error(`The scenario has no voucher ${name}`);
    return voucher;
  }
  const networks = (waits: Await) => {
    const operator = chain.operator(waits);
    return networksFor(() => operator);
  };

  const claims = ({ process: { waits }, store, now }: Pick<Instance, 'process' | 'store' | 'now'>) =>
    openChannelClaims({
      networks: networks(waits),
      channels: store.channels,
      metrics: { claimed() {} },
      intervals,
      log,
      now,
    })();

  async function refund({ rail }: Instance, after: number): Promise<void> {
    const request = {
      transport: 'http',
      method: 'GET',
      path: '/v1/channels',
      query: '',
      body: Buffer.alloc(0),
    } as const;
    const headers = proofOf(priceOf(after), OWN, { refunds: true });
    // Without an answer of the chain it ends with a problem.
    await rail.ownPath?.answer({ ...request, headers }, gate).catch(() => undefined);
  }

  return {
    route: soldBy('x402', use),

    idOf({ payment }, digest) {
      const id = `channel:${CAIP2}:${CHANNEL}:${priceOf(voucherOf(payment).calls)}:${digest}`;
      if (!requests.includes(digest)) requests.push(digest);
      names.set(id, `the ${payment} voucher for request ${requests.indexOf(digest) + 1}`);
      return id;
    },

    proof({ payment }, by) {
      const { calls, deposits } = voucherOf(payment);
      return proofOf(priceOf(calls), by, deposits === undefined ? {} : { deposits: priceOf(deposits) });
    },

    inWords(label) {
      let words = label;
      for (const [id, name] of names) words = words.replaceAll(id, name);
      return words;
    },

    openRail: ({ waits, store: { channels }, exposure, now }: RailParts) =>
      openX402Rail({
        networks: networks(waits),
        exposure,
        channels,
        publicUrl: 'http://model.invalid',
        challengeKey: '',
        now,
      }),

    noticed(store) {
      const { channels } = store;
      const notice = async (id: string) => {
        if ((await store.find(id))?.receipt) settled.add(id);
      };
      return {
        ...store,
        async settle(claim, receipt, ...others) {
          const isOurs = await store.settle(claim, receipt, ...others);
          await notice(claim.id);
          return isOurs;
        },
        async resolve(id, settlement, ...others) {
          const isResolved = await store.resolve(id, settlement, ...others);
          await notice(id);
          return isResolved;
        },
        channels: {
          ...channels,
          async take(ids, purpose, until, now) {
            const found = await channels.take(ids, purpose, until, now);
            if (found.length > 0) taken.set(purpose, until);
            return found;
          },
          async letGo(ids, purpose, until) {
            await channels.letGo(ids, purpose, until);
            taken.delete(purpose);
          },
        },
      };
    },

    async begin(world) {
      if (holds > 0) {
        const state = {
          balance: chain.balance.toString(),
          totalClaimed: '0',
          withdrawRequestedAt: 0,
          refundNonce: '0',
        };
        await world.store.channels.adopt(facts, state, world.now());
      }
      for (const each of besides) {
        const instance = world.instance(each === 'claim' ? 'claimer' : `refunder after ${each.refundAfter}`);
        await instance.process.begin(async () => {
          if (each !== 'claim') return refund(instance, each.refundAfter);
          // A chain without an answer ends the round.
          await claims(instance).catch(() => undefined);
        });
      }
    },

    isCharged: (id) => settled.has(id),
    charged: () => new Set(settled),
    mostUnpaidCalls: Number.POSITIVE_INFINITY,

    async fault(payments, store, upstream, now) {
      kept = await store.channels.find(CHANNEL);
      return faultOfCharges(kept, payments, chain) ?? faultOfChannelCalls(kept, payments, upstream, now);
    },

    faultOfReturn({ payment }, ending) {
      if (ending.kind === 'result') return undefined;
      if (ending.kind === 'problem') return `is not served although everything works: ${ending.problem.code}`;
      const { calls } = voucherOf(payment);
      const isNext = BigInt(kept?.charged ?? 0) + priceOf(1) === priceOf(calls);
      return isNext && !hasRefunds ? 'is asked to pay although its voucher is the next' : undefined;
    },

    background: (instance) => instance.process.begin(() => claims(instance)),

    faultAtTheEnd: () =>
      `${chain.totalClaimed}` === (kept?.charged ?? '0')
        ? undefined
        : `${kept?.charged} are charged, ${chain.totalClaimed} claimed`,

    steps: () =>
      chain.sent.flatMap((sent) => [
        { label: `the ${sent.label} without an answer lands`, happen: async () => chain.land(sent) },
        { label: `the ${sent.label} without an answer is lost`, happen: async () => chain.lose(sent) },
      ]),
    calmDown: chain.calmDown,
    state: async (store) => [await store.channels.find(CHANNEL), [...taken], chain.state()],
  };
}

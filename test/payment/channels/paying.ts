/** A payer with a channel, and the chain that has it. Vouchers are signed, and checked, as on a real one. */
import { createPublicClient, custom, type Hex } from 'viem';
import { privateKeyToAccount, sign } from 'viem/accounts';
import type { ChannelConfig } from '../../../src/on-chain/channel-config.ts';
import { refused, type Settlement } from '../../../src/on-chain/settlement.ts';
import {
  type ChannelAuthorization,
  readBatchSettlement,
} from '../../../src/payment/authorizations/batch-settlement.ts';
import { channelId, voucherDigest, WITHDRAW_DELAY } from '../../../src/payment/channels/channel.ts';
import type { ChannelClaim, ChannelOperator, Deposit } from '../../../src/payment/channels/operator.ts';
import { openEvmChannels } from '../../../src/payment/facilitators/evm-channels.ts';
import type { Facilitator } from '../../../src/payment/facilitators/facilitator.ts';
import { createPayableNetworks, type PayableNetworks } from '../../../src/payment/networks.ts';
import type { Verdict } from '../../../src/payment/verdict.ts';
import type { ChannelState } from '../../../src/store/channels/channel-store.ts';
import { baseSepolia, polygon, solanaDevnet, stable } from '../facilitators/networks.ts';

export const NETWORK = baseSepolia.id;
export const { caip2: CAIP2, asset: ASSET } = baseSepolia.sandbox;
const CHAIN_ID = Number(CAIP2.split(':')[1]);

const key = (digit: string): Hex => `0x${digit.repeat(64)}`;
export const payer = privateKeyToAccount(key('1'));
const operatorAccount = privateKeyToAccount(key('2'));
export const RECEIVER = privateKeyToAccount(key('3')).address;
export const AUTHORIZER = operatorAccount.address;

export const config: ChannelConfig = {
  payer: payer.address.toLowerCase(),
  payerAuthorizer: payer.address.toLowerCase(),
  receiver: RECEIVER.toLowerCase(),
  receiverAuthorizer: AUTHORIZER.toLowerCase(),
  token: ASSET.address.toLowerCase(),
  withdrawDelay: WITHDRAW_DELAY,
  salt: key('4'),
};
export const CHANNEL = channelId(CHAIN_ID, config);
export const facts = { id: CHANNEL, network: NETWORK, payer: config.payer, config: JSON.stringify(config) };

/** A voucher for so much in all, as its payer signs it. */
export const signatureOf = (max: bigint, signer: Hex = key('1'), channel = CHANNEL, chainId = CHAIN_ID): Promise<Hex> =>
  sign({ hash: voucherDigest(chainId, channel, max) as Hex, privateKey: signer, to: 'hex' });

export interface Signed {
  readonly type?: 'voucher' | 'deposit' | 'refund';
  /** Atomic units of a deposit. */
  readonly deposits?: bigint;
  /** Names the deposit. */
  readonly salt?: Hex;
  /** What a refund asks for. */
  readonly amount?: bigint;
  readonly by?: Hex;
  readonly changes?: Partial<ChannelConfig>;
  readonly chainId?: number;
}

/** The scheme's payload of a voucher for so much in all. */
export async function payloadOf(max: bigint, signed: Signed = {}): Promise<Record<string, unknown>> {
  const { deposits, salt = key('5'), amount, by, changes, chainId = CHAIN_ID } = signed;
  const channelConfig = { ...config, ...changes };
  const channel = channelId(chainId, channelConfig);
  const authorization = { validAfter: '0', validBefore: '99999999999', salt, signature: '0x00' };
  return {
    type: signed.type ?? (deposits === undefined ? 'voucher' : 'deposit'),
    channelConfig,
    voucher: {
      channelId: channel,
      maxClaimableAmount: max.toString(),
      signature: await signatureOf(max, by, channel, chainId),
    },
    ...(deposits !== undefined && {
      deposit: { amount: deposits.toString(), authorization: { erc3009Authorization: authorization } },
    }),
    ...(amount !== undefined && { amount: amount.toString() }),
  };
}

export const authorizationOf = async (max: bigint, signed?: Signed): Promise<ChannelAuthorization> =>
  readBatchSettlement(await payloadOf(max, signed), CHAIN_ID, 'request');

export const stateWith = (changes: Partial<ChannelState> = {}): ChannelState => ({
  balance: '0',
  totalClaimed: '0',
  withdrawRequestedAt: 0,
  refundNonce: '0',
  ...changes,
});

/** Checks signatures, and has no node. */
const { isSigned } = openEvmChannels({
  deployments: { walletOf: () => undefined, paid: () => undefined },
  chainId: CHAIN_ID,
  reader: createPublicClient({ transport: custom({ request: () => Promise.reject(new Error('there is no node')) }) }),
  operator: AUTHORIZER,
  noting: () => Promise.reject(new Error('there is no node')),
  weigh: () => Promise.reject(new Error('there is no node')),
  send: () => Promise.reject(new Error('there is no node')),
  waitForReceipt: () => Promise.reject(new Error('there is no node')),
});

/** The chain of one channel and who drives it. Does what it is asked unless a test has it answer otherwise. */
export function openChain(begin: Partial<ChannelState> = {}) {
  const used = new Set<string>();
  const chain = {
    state: stateWith(begin),
    /** What it was asked, in order. */
    asked: [] as string[],
    refunds: [] as { claim: ChannelClaim; amount: bigint }[],
    /** What it answers in place of what is so. */
    instead: {} as {
      read?: () => Promise<ChannelState>;
      verdict?: Verdict;
      deposit?: Settlement;
      refund?: Settlement;
    },
    /** It has been in the channel before: what was signed is used. */
    use: (salt: string) => void used.add(salt),
    operator: undefined as unknown as ChannelOperator,
  };
  const add = (amount: bigint) => (BigInt(chain.state.balance) + amount).toString();
  chain.operator = {
    authorizer: AUTHORIZER,
    isSigned,
    async read(channel) {
      chain.asked.push('read');
      if (channel !== CHANNEL) return stateWith();
      return chain.instead.read ? chain.instead.read() : { ...chain.state };
    },
    async verifyDeposit(_, deposit: Deposit) {
      chain.asked.push(`verify a deposit of ${deposit.amount}`);
      return chain.instead.verdict ?? { valid: true, payer: config.payer };
    },
    isDeposited: async (_, { salt }) => used.has(salt),
    async deposit(_, { amount, salt }) {
      chain.asked.push(`deposit ${amount}`);
      if (chain.instead.deposit) return chain.instead.deposit;
      used.add(salt);
      chain.state = { ...chain.state, balance: add(amount) };
      return { state: 'settled', transaction: '0xdeposited', amount };
    },
    charged(_, amount) {
      chain.asked.push(`charged ${amount}`);
    },
    claim: () => Promise.reject(new Error('nothing is claimed here')),
    async refund(claim, amount) {
      chain.asked.push(`refund ${amount}`);
      chain.refunds.push({ claim, amount });
      if (chain.instead.refund) return chain.instead.refund;
      const { charged, due, max, signature } = claim;
      const isGood = due <= 0n || (charged <= max && (await isSigned(CHANNEL, claim.config, { max, signature })));
      if (!isGood) return refused('the claim is turned down');
      const { totalClaimed, refundNonce } = chain.state;
      chain.state = {
        ...chain.state,
        balance: add(-amount),
        totalClaimed: due > 0n ? charged.toString() : totalClaimed,
        refundNonce: String(Number(refundNonce) + 1),
      };
      return { state: 'settled', transaction: '0xrefunded', amount };
    },
  };
  return chain;
}

const notAsked = () => Promise.reject(new Error('nobody verifies or settles here'));
const quiet = { debug() {}, info() {}, warn() {}, error() {} };

/** Configured, and of no facilitator. */
export const UNPAYABLE_CHAIN = 4_321;
const unpayable = { caip2: `eip155:${UNPAYABLE_CHAIN}`, asset: ASSET };

/**
 * Channels are on `NETWORK` and on Polygon, where the same chain answers; there are none on a third network, and
 * two cannot be paid at the moment. `hasChannels`: false where there are none at all.
 */
export async function networksOn(
  operator: () => Promise<ChannelOperator>,
  { hasChannels = true } = {},
): Promise<PayableNetworks> {
  const exact = [baseSepolia, polygon, stable].map(({ live }) => ({
    x402Version: 2,
    scheme: 'exact',
    network: live.caip2,
  }));
  const drawn = [baseSepolia, polygon].map(({ live }) => ({
    ...{ x402Version: 2, scheme: 'batch-settlement', network: live.caip2 },
    extra: { receiverAuthorizer: AUTHORIZER },
  }));
  const facilitator: Facilitator = {
    supported: async () => (hasChannels ? [...exact, ...drawn] : exact),
    verify: notAsked,
    settle: notAsked,
    channels: operator,
    close: async () => {},
  };
  const networks = createPayableNetworks(
    [
      ...[baseSepolia, polygon, stable, solanaDevnet],
      { ...stable, id: 'unpayable', live: unpayable, sandbox: unpayable },
    ].map((network) => ({
      ...{ network, mode: 'sandbox' as const, payTo: RECEIVER, rpcUrl: 'http://node.invalid' },
    })),
    [{ name: 'own', facilitator }],
    quiet,
  );
  await networks.refresh();
  return networks;
}

/** Payers with a channel each (x402 `batch-settlement`), whose vouchers are signed before they are needed. */
import { signRecoverable } from 'tiny-secp256k1';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { ChannelConfig } from '../../src/on-chain/channel-config.ts';
import { EIP3009_DEPOSITS } from '../../src/on-chain/escrow-contracts.ts';
import { channelId, depositNonce, voucherDigest } from '../../src/payment/channels/channel.ts';
import { TRANSFER_TYPES } from '../transfer-types.ts';
import { offer } from './subject.ts';

/** The offers of a 402. */
export interface Required {
  readonly resource: object;
  readonly accepts: readonly {
    readonly scheme?: string;
    readonly amount: string;
    readonly payTo: string;
    readonly extra?: Readonly<Record<string, unknown>>;
  }[];
  readonly extensions?: object;
}

export interface ChannelPayer {
  /** Makes so many vouchers ready, those that were not used included. */
  sign(count: number): void;
  /** The `PAYMENT-SIGNATURE` of the next call. */
  next(): string;
}

/** Atomic units: good for all rounds. */
const DEPOSIT = 15_000_000_000n;
const SALT: Hex = `0x${'00'.repeat(32)}`;
const CHAIN = Number(offer.network.replace('eip155:', ''));

/** Signed like a transfer. */
const RECEIVE = { ReceiveWithAuthorization: TRANSFER_TYPES.TransferWithAuthorization } as const;

async function openOne(
  privateKey: Hex,
  { accepts, ...others }: Required,
  deposit: (proof: string) => Promise<void>,
): Promise<ChannelPayer> {
  const accepted = accepts.find(({ scheme }) => scheme === 'batch-settlement');
  if (!accepted) throw new Error('no channel is offered');
  const account = privateKeyToAccount(privateKey);
  const price = BigInt(accepted.amount);
  const config: ChannelConfig = {
    payer: account.address,
    payerAuthorizer: account.address,
    receiver: accepted.payTo,
    receiverAuthorizer: String(accepted.extra?.receiverAuthorizer),
    token: offer.asset,
    withdrawDelay: Number(accepted.extra?.withdrawDelay),
    salt: SALT,
  };
  const channel = channelId(CHAIN, config);
  const secret = Buffer.from(privateKey.slice(2), 'hex');
  const inHeader = (payload: object) =>
    Buffer.from(JSON.stringify({ x402Version: 2, accepted, payload, ...others })).toString('base64');
  const voucher = (max: bigint) => {
    const { signature, recoveryId } = signRecoverable(
      Buffer.from(voucherDigest(CHAIN, channel, max).slice(2), 'hex'),
      secret,
    );
    const hex = Buffer.from(signature).toString('hex') + (27 + recoveryId).toString(16);
    return { channelId: channel, maxClaimableAmount: max.toString(), signature: `0x${hex}` };
  };
  let paid = price;
  const validBefore = BigInt(Math.floor(Date.now() / 1000) + 300);
  const signature = await account.signTypedData({
    domain: { ...offer.domain, chainId: CHAIN, verifyingContract: offer.asset },
    types: RECEIVE,
    primaryType: 'ReceiveWithAuthorization',
    message: {
      from: account.address,
      to: EIP3009_DEPOSITS as Hex,
      value: DEPOSIT,
      validAfter: 0n,
      validBefore,
      nonce: depositNonce(channel, SALT) as Hex,
    },
  });
  const erc3009Authorization = { validAfter: '0', validBefore: validBefore.toString(), salt: SALT, signature };
  const authorization = { erc3009Authorization };
  await deposit(
    inHeader({
      type: 'deposit',
      channelConfig: config,
      voucher: voucher(price),
      deposit: { amount: DEPOSIT.toString(), authorization },
    }),
  );
  const ready: string[] = [];
  const signNext = () => {
    const max = paid + price * BigInt(ready.length + 1);
    ready.push(inHeader({ type: 'voucher', channelConfig: config, voucher: voucher(max) }));
  };
  return {
    sign(count) {
      while (ready.length < count) signNext();
    },
    next() {
      if (ready.length === 0) signNext();
      paid += price;
      return ready.shift() ?? '';
    },
  };
}

/** Each deposits by its first call. */
export async function openChannelPayers(
  wallets: readonly string[],
  required: Required,
  deposit: (proof: string) => Promise<void>,
): Promise<ChannelPayer[]> {
  const payers: ChannelPayer[] = [];
  for (const wallet of wallets) payers.push(await openOne(wallet as Hex, required, deposit));
  return payers;
}

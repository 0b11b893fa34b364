/** The published client of `batch-settlement`, and what it gets signed: what was meant, whatever it hands over. */
import { BatchSettlementEvmScheme, InMemoryClientChannelStorage } from '@x402/evm/batch-settlement/client';
import { type Hex, hashTypedData } from 'viem';
import { asJsonObject, textOrNull } from '../json.ts';
import type { ChannelConfig } from '../on-chain/channel-config.ts';
import type { Asset } from './asset.ts';
import { channelIdOf, depositNonceOf, depositOf, voucherOf } from './channel.ts';
import { demand } from './demand.ts';
import type { EvmSigner } from './wallet.ts';

/** A deposit as the scheme carries it: JSON members. Whoever has it can have the contract take the amount, once. */
export interface SignedDeposit {
  /** Atomic units. */
  readonly amount: string;
  readonly authorization: {
    readonly erc3009Authorization: {
      readonly validAfter: string;
      /** Seconds since the epoch. */
      readonly validBefore: string;
      readonly salt: string;
      readonly signature: string;
    };
  };
}

interface Meant {
  readonly asset: Asset;
  readonly config: ChannelConfig;
  /** What the voucher is for: all calls before, and this one. */
  readonly max: bigint;
  /** What of it is for this call. */
  readonly amount: bigint;
  /** What the channel holds. */
  readonly balance: bigint;
  /** What is deposited besides; undefined: nothing. */
  readonly deposit: bigint | undefined;
  /** How long the deposit may be made. */
  readonly seconds: number;
}

type Typed = Parameters<EvmSigner['signTypedData']>[0];

/** Signs the voucher and the deposit, and nothing else. `noncesOf`: those of the deposits that it signed. */
function guarded(account: EvmSigner, { asset, config, max, deposit, seconds }: Meant) {
  const channel = channelIdOf(asset, config);
  const nonces: Hex[] = [];
  const sign = (given: Typed, meant: Typed) => {
    demand(hashTypedData(given) === hashTypedData(meant), 'a part');
    return account.signTypedData(meant);
  };
  const signer = {
    address: account.address,
    async signTypedData(given: { domain: object; types: object; primaryType: string; message: object }) {
      const typed = given as Typed;
      if (given.primaryType === 'Voucher') return sign(typed, voucherOf(asset, channel, max) as Typed);
      const { validBefore, nonce } = given.message as { validBefore: bigint; nonce: Hex };
      if (deposit === undefined) throw new Error('a deposit would be signed, and none is meant');
      demand(validBefore <= Math.floor(Date.now() / 1000) + seconds, 'the end');
      nonces.push(nonce);
      return sign(typed, depositOf(asset, account.address, deposit, validBefore, nonce) as Typed);
    },
  };
  return { signer, channel, nonces };
}

/**
 * The scheme's payload: a voucher, and the deposit if one is meant. Throws where what would be signed is not what is meant, and
 * what the signer throws.
 */
export async function signVoucher(account: EvmSigner, meant: Meant): Promise<Record<string, unknown>> {
  const { asset, config, max, amount, balance, deposit, seconds } = meant;
  const { signer, channel, nonces } = guarded(account, meant);
  const storage = new InMemoryClientChannelStorage();
  await storage.set(channel, {
    chargedCumulativeAmount: (max - amount).toString(),
    // It deposits where this does not cover the voucher, and takes nothing at all for no channel.
    balance: (deposit === undefined ? max + 1n : balance).toString(),
  });
  const scheme = new BatchSettlementEvmScheme(signer, {
    storage,
    salt: config.salt as Hex,
    depositStrategy: () => deposit ?? false,
  });
  const { payload } = await scheme.createPaymentPayload(2, {
    scheme: 'batch-settlement',
    network: asset.network as `${string}:${string}`,
    asset: config.token,
    amount: amount.toString(),
    payTo: config.receiver,
    maxTimeoutSeconds: seconds,
    extra: {
      ...asset.domain,
      receiverAuthorizer: config.receiverAuthorizer,
      withdrawDelay: config.withdrawDelay,
    },
  });
  demand(nonces.length === (deposit === undefined ? 0 : 1), 'the number');
  for (const nonce of nonces) demand(depositNonceOf(channel, saltIn(payload)) === nonce, 'the channel');
  return payload;
}

function saltIn({ deposit }: Record<string, unknown>): string {
  const { erc3009Authorization } = asJsonObject(asJsonObject(deposit).authorization);
  return textOrNull(asJsonObject(erc3009Authorization).salt) ?? '0';
}

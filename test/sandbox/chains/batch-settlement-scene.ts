/** A chain with the channels of `batch-settlement`, all who have a part in one, and what they sign by the published types. */
import type { PaymentRequirements } from '@x402/core/types';
import { BATCH_SETTLEMENT_DOMAIN, claimBatchTypes, refundTypes } from '@x402/evm';
import {
  computeChannelId,
  createBatchSettlementEIP3009DepositPayload,
  signVoucher,
} from '@x402/evm/batch-settlement/client';
import type { Test } from 'tap';
import {
  type Address,
  encodeAbiParameters,
  type Hex,
  hashTypedData,
  numberToHex,
  parseAbiParameters,
  parseEventLogs,
  type TransactionReceipt,
} from 'viem';
import type { AssetFile } from '../../../src/catalogue/types.ts';
import { readArtifact } from '../../../src/sandbox/chains/contract.ts';
import { type Account, type Call, newAccount, startChainScene } from './chain-scene.ts';
import { agreeingTo } from './contract-codes.ts';

export const SETTLEMENT: Address = '0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003';
export const COLLECTOR: Address = '0x4020806089470a89826cB9fB1f4059150b550004';
export const { abi: settlementAbi } = readArtifact(
  new URL('../../../src/sandbox/chains/BatchSettlement.json', import.meta.url),
);

/** The contract's struct. */
export type ChannelConfig = Parameters<typeof computeChannelId>[0];
/** Who signs: an account, or a contract's address with something that signs for it. */
type Signer = Parameters<typeof signVoucher>[0];

/** An authorization that fills a channel. */
export interface Filling {
  readonly config: ChannelConfig;
  readonly amount: bigint;
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  readonly salt: bigint;
  readonly signature: Hex;
}

/** The contract's struct of a voucher and what is taken of it. */
export interface Row {
  readonly voucher: { readonly channel: ChannelConfig; readonly maxClaimableAmount: bigint };
  readonly signature: Hex;
  readonly totalClaimed: bigint;
}

export const DELAY_SECONDS = 900;
/** Longer than tests let pass. */
const FAR_SECONDS = 10_000_000;
const COLLECTOR_DATA = parseAbiParameters('uint256, uint256, uint256, bytes');

export const collectorData = ({ validAfter, validBefore, salt, signature }: Filling): Hex =>
  encodeAbiParameters(COLLECTOR_DATA, [validAfter, validBefore, salt, signature]);

export async function startScene(t: Test, asset: AssetFile) {
  const [voucherSigner, receiver, authorizer] = [newAccount(), newAccount(), newAccount()];
  const scene = await startChainScene(t, asset, {
    contract: { address: SETTLEMENT, abi: settlementAbi },
    others: {
      voucherSigner: voucherSigner.address,
      receiver: receiver.address,
      authorizer: authorizer.address,
      settlement: SETTLEMENT,
      collector: COLLECTOR,
    },
  });
  for (const { address } of [voucherSigner, receiver, authorizer]) await scene.fund(address);
  const { payer, stranger, operator, caip2, read, does } = scene;

  let salts = 0;
  /** Of a channel that there was not before. */
  const newConfig = (extra: Partial<ChannelConfig> = {}): ChannelConfig => ({
    payer: payer.address,
    payerAuthorizer: voucherSigner.address,
    receiver: receiver.address,
    receiverAuthorizer: authorizer.address,
    token: asset.address as Address,
    withdrawDelay: DELAY_SECONDS,
    salt: numberToHex(++salts, { size: 32 }),
    ...extra,
  });

  const idOf = (config: ChannelConfig): Hex => computeChannelId(config, caip2);

  async function signFilling(
    config: ChannelConfig,
    amount: bigint,
    { signer = payer as Signer, lastsSeconds = FAR_SECONDS } = {},
  ): Promise<Filling> {
    const requirements: PaymentRequirements = {
      scheme: 'batch-settlement',
      network: caip2 as PaymentRequirements['network'],
      amount: '1',
      asset: asset.address,
      payTo: config.receiver,
      maxTimeoutSeconds: lastsSeconds,
      extra: { name: asset.name, version: asset.version },
    };
    const signed = await createBatchSettlementEIP3009DepositPayload(
      signer,
      2,
      requirements,
      config,
      String(amount),
      '1',
      voucherSigner,
    );
    const { deposit } = signed.payload as {
      deposit: {
        authorization: { erc3009Authorization: { validAfter: string; validBefore: string; salt: Hex; signature: Hex } };
      };
    };
    const { validAfter, validBefore, salt, signature } = deposit.authorization.erc3009Authorization;
    return {
      config,
      amount,
      validAfter: BigInt(validAfter),
      validBefore: BigInt(validBefore),
      salt: BigInt(salt),
      signature,
    };
  }

  /** What `signer` lets the receiver have, and what it takes of it: all, if nothing else is said. */
  async function row(
    config: ChannelConfig,
    maxClaimableAmount: bigint,
    totalClaimed = maxClaimableAmount,
    signer: Signer = voucherSigner,
  ): Promise<Row> {
    const { signature } = await signVoucher(signer, idOf(config), String(maxClaimableAmount), caip2);
    return { voucher: { channel: config, maxClaimableAmount }, signature, totalClaimed };
  }

  const domain = { ...BATCH_SETTLEMENT_DOMAIN, chainId: Number(caip2.split(':')[1]), verifyingContract: SETTLEMENT };

  const signBatch = (rows: readonly Row[], signer: Signer = authorizer): Promise<Hex> => {
    const claims = rows.map(({ voucher: { channel, maxClaimableAmount }, totalClaimed }) => ({
      channelId: idOf(channel),
      maxClaimableAmount,
      totalClaimed,
    }));
    return signer.signTypedData({ domain, types: claimBatchTypes, primaryType: 'ClaimBatch', message: { claims } });
  };

  const signRefund = (
    config: ChannelConfig,
    amount: bigint,
    nonce: bigint,
    signer: Signer = authorizer,
  ): Promise<Hex> => {
    const message = { channelId: idOf(config), nonce, amount };
    return signer.signTypedData({ domain, types: refundTypes, primaryType: 'Refund', message });
  };

  /** A contract that takes one digest for signed, with any signature: that of what it was last given to sign. */
  const contractAt = (address: Address): Signer => ({
    address,
    signTypedData: async (message) => {
      const digest = hashTypedData(message as Parameters<typeof hashTypedData>[0]);
      await scene.rpc('anvil_setCode', [address, agreeingTo(digest)]);
      return '0x01';
    },
  });

  const deposit = (filling: Filling, amount = filling.amount, collector: Address = COLLECTOR): Call => {
    const args = [filling.config, amount, collector, collectorData(filling)];
    return { from: operator, functionName: 'deposit', args };
  };
  const claim = (rows: readonly Row[], from: Account = authorizer): Call => ({
    from,
    functionName: 'claim',
    args: [rows],
  });
  const claimSigned = (rows: readonly Row[], signature: Hex): Call => ({
    from: stranger,
    functionName: 'claimWithSignature',
    args: [rows, signature],
  });
  const settle = (): Call => ({ from: stranger, functionName: 'settle', args: [receiver.address, asset.address] });
  const ask = (config: ChannelConfig, amount: bigint, from: Account = payer): Call => ({
    from,
    functionName: 'initiateWithdraw',
    args: [config, amount],
  });
  const withdraw = (config: ChannelConfig, from: Account = payer): Call => ({
    from,
    functionName: 'finalizeWithdraw',
    args: [config],
  });
  const refund = (config: ChannelConfig, amount: bigint, from: Account = authorizer): Call => ({
    from,
    functionName: 'refund',
    args: [config, amount],
  });
  const refundSigned = (config: ChannelConfig, amount: bigint, nonce: bigint, signature: Hex): Call => ({
    from: stranger,
    functionName: 'refundWithSignature',
    args: [config, amount, nonce, signature],
  });

  return {
    ...scene,
    voucherSigner,
    receiver,
    authorizer,
    newConfig,
    idOf,
    contractAt,
    signFilling,
    row,
    signBatch,
    signRefund,
    calls: { deposit, claim, claimSigned, settle, ask, withdraw, refund, refundSigned },
    /** Fails the test where the contract told of anything else, or in another order. */
    tells(t: Test, { logs }: Pick<TransactionReceipt, 'logs'>, expected: readonly (readonly [string, object?])[]) {
      const told = parseEventLogs({ abi: settlementAbi, logs });
      t.same(
        told.map(({ eventName }) => eventName),
        expected.map(([event]) => event),
      );
      t.match(
        told.map(({ args }) => args),
        expected.map(([, args]) => args ?? {}),
      );
    },
    /** A new channel with so much in it. */
    async filled(t: Test, amount: bigint, extra: Partial<ChannelConfig> = {}): Promise<ChannelConfig> {
      const config = newConfig(extra);
      await does(t, deposit(await signFilling(config, amount)));
      return config;
    },
    /** The contract's own account of a channel: what is in it, and what was claimed of that. */
    channel: (config: ChannelConfig) => read('channels', [idOf(config)]),
    /** What its payer asked for, and when, in seconds since the epoch. */
    pending: (config: ChannelConfig) => read('pendingWithdrawals', [idOf(config)]),
    nonce: (config: ChannelConfig) => read('refundNonce', [idOf(config)]),
    /** What was claimed for the receiver, and what it was sent. */
    received: () =>
      read('receivers', [receiver.address, asset.address]) as Promise<readonly [claimed: bigint, settled: bigint]>,
  };
}

/**
 * Charges on Tempo: a TIP-20 transfer that the payer signs and the gateway sends (`transaction`, "pull"), or that the
 * payer has sent already (`hash`, "push"). Source: draft-tempo-charge-00.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { isJsonObject } from '../../json.ts';
import type { Log } from '../../log.ts';
import type { Atomic } from '../../money.ts';
import { type Settlement, unknown } from '../../on-chain/settlement.ts';
import {
  checkSignedTransfer,
  demandCover,
  demandFee,
  demandNextNonce,
  type ExpectedTransfer,
  memoEnd,
  openTempoTransfers,
  readTempoPayment,
  searchedFrom,
} from '../../payment/authorizations/tempo.ts';
import { evmConfirmations } from '../../payment/chains/confirmations.ts';
import { readBlock } from '../../payment/chains/evm-logs.ts';
import { ChainUnreachable, createRpc } from '../../payment/chains/rpc.ts';
import { createEvmHolders } from '../../payment/exposure/holder.ts';
import { Refusal } from '../../payment/refusal.ts';
import { endsBeforeTheWork, SETTLE_MARGIN_MS } from '../../payment/settle-upfront.ts';
import type { UpfrontReason } from '../../payment/upfront-reason.ts';
import type { PaymentCredential } from './credential.ts';
import type { ChargeMethod, MethodVerdict, Work } from './method.ts';
import type { TempoChain } from './tempo-chain.ts';
import { openTempoNode } from './tempo-node.ts';

export interface TempoOptions {
  readonly rpcUrl: string;
  readonly chainId: number;
  /** TIP-20 token; all of them have six decimals. */
  readonly currency: string;
  readonly recipient: string;
  /** Private key of an account that pays the network's fees for the payers. Left out: they pay themselves. */
  readonly feePayerKey?: string;
}

/** A node waits for the block before it answers. */
const RPC_TIMEOUT_MS = 20_000;
/** A payer's node may be ahead of ours by this much. */
const PUSH_WAIT_MS = 5_000;
const FIRST_PUSH_PAUSE_MS = 250;

/** How long a transaction is good that the official client signs (`mppx`, tempo/client/Charge). */
const TRANSACTION_LASTS_MS = 25_000;

const isTooShort = (goodForMs: number, { deadlineMs }: Work): boolean =>
  endsBeforeTheWork({ goodForMs, deadlineMs, settleMarginMs: SETTLE_MARGIN_MS.ownTransaction });

/** As it is stored. */
type RecoveryQuery = { readonly method: 'tempo' } & (
  | { readonly mode: 'pull'; readonly transfer: ExpectedTransfer }
  | { readonly mode: 'push'; readonly hash: string; readonly amount: string }
);

export function createTempoMethod(
  options: TempoOptions,
  {
    challengeLifetimeMs,
    log,
    now,
  }: { challengeLifetimeMs: number; log: Pick<Log, 'error'> | undefined; now(): number },
): ChargeMethod {
  const rpc = createRpc(options.rpcUrl, RPC_TIMEOUT_MS);
  const { chainId, currency, recipient } = options;
  const holders = createEvmHolders(options.rpcUrl, currency, now);
  const findTransfer = openTempoTransfers(options.rpcUrl);
  const node = openTempoNode({ rpcUrl: options.rpcUrl, chainId, log, now });
  let loading: Promise<TempoChain> | undefined;
  const load = (): Promise<TempoChain> => {
    loading ??= import('./tempo-chain.ts').then(({ openTempoChain }) =>
      openTempoChain({ chainId, currency, recipient, feePayerKey: options.feePayerKey }, rpc),
    );
    return loading;
  };

  const pushed = (transaction: string, amount: Atomic): Settlement => ({ state: 'settled', transaction, amount });

  /** Throws Refusal where the chain took the transaction only after the challenge had expired. */
  async function demandSentInTime({ challenge }: PaymentCredential, hash: string): Promise<void> {
    if (now() < Date.parse(challenge.expires)) return;
    const receipt = await rpc('eth_getTransactionReceipt', [hash]);
    const { timestamp } = await readBlock(rpc, isJsonObject(receipt) ? String(receipt.blockNumber) : 'latest');
    if (timestamp * 1000 <= Date.parse(challenge.expires)) return;
    throw new Refusal(
      'payment-expired',
      `the transaction came after the challenge had expired at ${challenge.expires}: ask who sells here for the money`,
    );
  }

  async function verifyPush(chain: TempoChain, credential: PaymentCredential, hash: string): Promise<MethodVerdict> {
    const { amount } = credential;
    const giveUpAt = now() + PUSH_WAIT_MS;
    for (let pause = FIRST_PUSH_PAUSE_MS; ; pause *= 2) {
      const payer = await chain.check(credential);
      if (payer !== undefined) {
        await demandSentInTime(credential, hash);
        const query: RecoveryQuery = { method: 'tempo', mode: 'push', hash, amount: amount.toString() };
        return {
          payer,
          holder: await holders(payer),
          payerIsProven: true,
          upfront: 'sent',
          isCovered: true,
          recoveryQuery: JSON.stringify(query),
          settle: async () => pushed(hash, amount),
        };
      }
      if (now() + pause > giveUpAt) {
        throw new Refusal(
          'verification-failed',
          'the chain does not know this transaction: send the same credential again once it is included',
          { isSent: true },
        );
      }
      await delay(pause);
    }
  }

  /** `validBefore` in seconds. Without one the payer can put another transaction in its place: the work does not wait. */
  function upfrontOf(
    isProven: boolean,
    { validBefore, challengeExpires }: { validBefore: number | undefined; challengeExpires: number },
    work: Work,
  ): UpfrontReason | undefined {
    // Where only the chain can check the signature, it must not buy work before the chain has.
    if (!isProven) return 'contract';
    if (validBefore === undefined) return 'deadline';
    // Once its challenge has expired, mppx sends none.
    const goodForMs = Math.min(validBefore * 1000, challengeExpires) - now();
    return isTooShort(goodForMs, work) ? 'deadline' : undefined;
  }

  async function verifyPull(
    chain: TempoChain,
    credential: PaymentCredential,
    signature: string,
    work: Work,
  ): Promise<MethodVerdict> {
    const { challenge, amount } = credential;
    const signed = chain.readTransfer(signature, memoEnd(challenge.id));
    const asked = { chainId, challengeExpires: Date.parse(challenge.expires) };
    const { memo, validBefore } = checkSignedTransfer(signed, asked, now());
    if (signed.isSponsored && options.feePayerKey === undefined) {
      throw new Refusal('verification-failed', 'nobody bears the fees of a payer here: sign without a fee payer');
    }
    const [payer, fromBlock, feePerGas] = await Promise.all([
      chain.check(credential),
      searchedFrom(rpc),
      demandFee(rpc, signed),
    ]);
    if (payer === undefined) throw new Refusal('verification-failed', 'the transaction does not tell who pays');
    const common = { currency, payer, recipient, amount: amount.toString(), memo, fromBlock };
    const { key, value } = signed.nonce;
    const transfer =
      validBefore === undefined
        ? { ...common, nonce: { key: key.toString(), value: value.toString() } }
        : { ...common, validBefore };
    await Promise.all([
      demandNextNonce(rpc, payer, signed.nonce),
      signed.isSponsored ? undefined : demandCover(rpc, transfer, signed, feePerGas),
    ]).catch(async (refusal: unknown) => {
      // Its payer may have sent it, and the chain taken it.
      if ((await findTransfer(transfer)).state !== 'settled') throw refusal;
    });
    const who = await chain.whoSigned(signature, payer);
    const query: RecoveryQuery = { method: 'tempo', mode: 'pull', transfer };
    return {
      payer,
      holder: await holders(payer),
      ...who,
      upfront: upfrontOf(signed.provenSigner, { validBefore, ...asked }, work),
      recoveryQuery: JSON.stringify(query),
      settle: () => chain.broadcast(credential),
    };
  }

  return {
    name: 'tempo',
    network: `eip155:${chainId}`,
    currency,
    decimals: 6,
    recipient,
    details: { chainId, ...(options.feePayerKey === undefined ? {} : { feePayer: true }) },
    // As mppx has it: pushed is what the payer sends itself.
    unsentOnly: { supportedModes: ['pull'] },
    isOpen: node.isOurs,
    // Payers bear the chain's fees.
    leastPrice: () => 0n,
    challengeLifetimeMs: () => challengeLifetimeMs,
    // Who pays a sponsored transaction is known only once the chain has taken it.
    upfront: (work) =>
      options.feePayerKey !== undefined ? 'contract' : isTooShort(TRANSACTION_LASTS_MS, work) ? 'deadline' : undefined,
    leastSecondsLeft: ({ deadlineMs }) => Math.ceil((deadlineMs + SETTLE_MARGIN_MS.ownTransaction) / 1000),

    /**
     * The end of the memo stands for challenge and transaction at once: a challenge has one, so a second transaction
     * under it is refused as the same payment; and two challenges whose ids collide in these seven bytes, which
     * somebody might collect on purpose, are one payment too, so that one transaction never buys two calls.
     */
    identify({ challenge, payload }) {
      const payment = readTempoPayment(payload);
      return {
        id: `mpp:eip155:${chainId}:${memoEnd(challenge.id)}`,
        shown: payment.type === 'hash' ? payment.hash : payment.signature,
      };
    },

    async verify(credential, work) {
      const payment = readTempoPayment(credential.payload);
      try {
        if (!(await node.isFoundOurs())) throw new ChainUnreachable('the node is of another chain');
        const chain = await load();
        return payment.type === 'hash'
          ? await verifyPush(chain, credential, payment.hash)
          : await verifyPull(chain, credential, payment.signature, work);
      } catch (error) {
        if (!(error instanceof ChainUnreachable)) throw error;
        throw new Refusal(
          'verification-failed',
          'the chain gives no answer: send the same credential again in a moment',
          { isSent: payment.type === 'hash' },
        );
      }
    },

    confirmations: (transaction) => evmConfirmations(rpc, transaction),

    async recover(text) {
      const query: RecoveryQuery = JSON.parse(text);
      if (query.mode === 'push') return pushed(query.hash, BigInt(query.amount));
      return (await node.isFoundOurs()) ? findTransfer(query.transfer) : unknown('the node is of another chain');
    },
  };
}

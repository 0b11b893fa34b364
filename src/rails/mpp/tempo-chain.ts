/**
 * Checks and sends Tempo transactions with mppx's `tempo.charge`. In a file of its own because its imports take a
 * second and 70 MB: they are loaded with the first Tempo payment, not at start.
 */

import { Errors, Method, Credential as MppxCredential } from 'mppx';
import { Store, tempo } from 'mppx/server';
import { SignatureEnvelope, TxEnvelopeTempo } from 'ox/tempo';
import { BaseError, createClient, custom } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { Actions, Transaction } from 'viem/tempo';
import { tempo as tempoMainnet } from 'viem/tempo/chains';
import { isJsonObject } from '../../json.ts';
import { refused, type Settlement, unknown } from '../../on-chain/settlement.ts';
import type { SignedTransfer } from '../../payment/authorizations/tempo.ts';
import { ChainProblem, ChainUnreachable, type Rpc } from '../../payment/chains/rpc.ts';
import { Refusal } from '../../payment/refusal.ts';
import type { PaymentCredential } from './credential.ts';

type Hex = `0x${string}`;

type BroadcastInput = Parameters<NonNullable<ReturnType<typeof tempo.charge>['broadcast']>>[0];

/** How far a transaction got before sending it failed. */
type Progress = 'not sent' | 'sent' | 'rejected' | 'reverted';

interface TempoChainOptions {
  readonly chainId: number;
  readonly currency: string;
  readonly recipient: string;
  readonly feePayerKey: string | undefined;
}

/** `transferWithMemo(address,uint256,bytes32)` and its three words. */
const TRANSFER_WITH_MEMO = /^0x95777d59[0-9a-f]{128}([0-9a-f]{64})$/;

/**
 * Errors by which a node says nothing of the transaction, and may have passed it on: not included in time (EIP-7966),
 * resource unavailable, limit exceeded, internal error (EIP-1474).
 */
const NO_VERDICT = [4, -32_002, -32_005, -32_603];

/** The first line of a foreign message: the following ones repeat the request, and with it the signature. */
const firstLine = (message: string): string =>
  (message.split('\n')[0] ?? '').replace(/0x[0-9a-f]{80,}/gi, '…').slice(0, 200);

/** Selector of TIP-20's error `InsufficientBalance(uint256,uint256,address)`. */
const INSUFFICIENT_BALANCE = '832f98b5';

const isFromChain = (error: unknown): boolean => error instanceof ChainUnreachable || error instanceof ChainProblem;

/** What the chain's node said, or that it said nothing; anything else where it was not the node. */
const causeOf = (error: unknown): unknown => (error instanceof BaseError ? error.walk(isFromChain) : error);

const isNoVerdict = (cause: unknown): boolean =>
  cause instanceof ChainUnreachable ||
  (cause instanceof ChainProblem && (NO_VERDICT.includes(cause.code) || /timed? ?out/i.test(cause.message)));

/** Why checking or sending failed, in words for the caller: neither addresses of nodes nor signatures, so no cause. */
function explain(error: unknown): Refusal | ChainUnreachable {
  if (error instanceof Refusal || error instanceof ChainUnreachable) return error;
  const refusal = (reason: string) => new Refusal('verification-failed', reason);
  if (error instanceof BaseError || error instanceof ChainProblem) {
    const cause = causeOf(error);
    if (cause instanceof ChainUnreachable) return new ChainUnreachable('the chain gave no answer');
    const message = cause instanceof Error ? cause.message : '';
    if (message.includes(INSUFFICIENT_BALANCE)) return refusal('the payer has too few tokens');
    return refusal(`the chain refuses the transaction: ${firstLine(message || String(error.message))}`);
  }
  // mppx says what is wrong in words of its own; anything else stumbled over a transaction that nobody would sign.
  const isInWords =
    error instanceof Errors.PaymentError || (error instanceof Error && error.name === 'FeePayerValidationError');
  const reason = isInWords ? firstLine(error.message) : 'the transaction does not pay this challenge';
  return refusal(reason.replace(/^Payment verification failed: /, ''));
}

/** mppx takes no challenge that has expired by its clock, and what was sent before that counts. */
const OPEN_MS = 60_000;

/** The credential as mppx has it: without what it does not need to know and might stumble over. */
const forMppx = ({ challenge, request, payload, source }: PaymentCredential) => {
  const expires = payload.type === 'hash' ? new Date(Date.now() + OPEN_MS).toISOString() : challenge.expires;
  return MppxCredential.from({
    challenge: { ...challenge, request, expires },
    payload,
    ...(source === undefined ? {} : { source }),
  });
};

/** Whose signature a transaction carries: its account's, or that of a key which acts for it. Undefined: only the chain can tell. */
function signerOf(serialized: string) {
  try {
    const envelope = TxEnvelopeTempo.deserialize(serialized as TxEnvelopeTempo.Serialized);
    const outer = envelope.signature;
    if (!outer) return undefined;
    const isKey = outer.type === 'keychain';
    const signature = isKey ? outer.inner : outer;
    const payload = TxEnvelopeTempo.getSignPayload(envelope, isKey ? { from: outer.userAddress } : {});
    const address = SignatureEnvelope.extractAddress({ payload, signature });
    if (!SignatureEnvelope.verify(signature, { payload, address })) return undefined;
    return { address, isKey, isAuthorizedHere: envelope.keyAuthorization !== undefined };
  } catch {
    return undefined;
  }
}

const { transactionRequest } = tempoMainnet.formatters;

/**
 * viem reads nonces into numbers, which do not hold those of expiring transactions (TIP-1106: any 64 bits). Only trial
 * runs are made of what was read, and they need none; what is sent are the payer's own bytes.
 */
const trialRequest: typeof transactionRequest = {
  ...transactionRequest,
  format: (request, action) =>
    transactionRequest.format(
      Number.isSafeInteger(request.nonce ?? 0) ? request : { ...request, nonce: undefined },
      action,
    ),
};

export function openTempoChain(options: TempoChainOptions, rpc: Rpc) {
  const feePayer = options.feePayerKey === undefined ? undefined : privateKeyToAccount(options.feePayerKey as Hex);
  /** Shared by all charges: it bounds the fees that are in flight at once. */
  const sponsorBudget = { store: Store.memory() };

  const clientOf = (send: Rpc) =>
    createClient({
      chain: {
        ...tempoMainnet,
        id: options.chainId,
        formatters: { ...tempoMainnet.formatters, transactionRequest: trialRequest },
      },
      transport: custom(
        { request: ({ method, params }: { method: string; params?: unknown[] }) => send(method, params ?? []) },
        { retryCount: 0 },
      ),
    });

  const chargeOver = (send: Rpc) => {
    const client = clientOf(send);
    return tempo.charge({
      currency: options.currency as Hex,
      recipient: options.recipient as Hex,
      feePayer,
      sponsorBudget,
      getClient: () => client,
    });
  };

  const checking = chargeOver(rpc);

  /**
   * A trial run of the transfer alone. mppx tries out whole transactions, but sponsored ones only when it sends them,
   * and not every node executes the `calls` of a trial run. What swaps before it pays is left to mppx.
   */
  async function tryOut(signed: string, payer: string): Promise<void> {
    const { calls = [] } = Transaction.deserialize(signed as Transaction.TransactionSerializedTempo);
    const [transfer] = calls;
    if (!transfer || calls.length > 1) return;
    await rpc('eth_call', [{ from: payer, to: transfer.to, data: transfer.data }, 'latest']);
  }

  return {
    /** Decodes a signed transaction. Throws Refusal for bytes that are not one. */
    readTransfer(serialized: string, memoEnd: string): SignedTransfer {
      try {
        const transaction = Transaction.deserialize(serialized as Transaction.TransactionSerializedTempo);
        const memos = (transaction.calls ?? []).map(
          (each) => TRANSFER_WITH_MEMO.exec(each.data?.toLowerCase() ?? '')?.[1],
        );
        const memo = memos.find((each) => each?.endsWith(memoEnd));
        const fromSignature = transaction.feePayerSignature === undefined;
        return {
          chainId: Number(transaction.chainId),
          validBefore: transaction.validBefore,
          validAfter: transaction.validAfter ?? 0,
          nonce: { key: BigInt(transaction.nonceKey ?? 0), value: BigInt(transaction.nonce ?? 0) },
          maxFeePerGas: transaction.maxFeePerGas ?? 0n,
          maxPriorityFeePerGas: transaction.maxPriorityFeePerGas ?? 0n,
          gas: transaction.gas ?? 0n,
          feeToken: transaction.feeToken === undefined ? undefined : String(transaction.feeToken),
          provenSigner: fromSignature && transaction.signature?.type === 'secp256k1',
          isSponsored: !fromSignature,
          memo: memo === undefined ? undefined : `0x${memo}`,
        };
      } catch {
        throw new Refusal('verification-failed', 'the signature is not a signed Tempo transaction');
      }
    },

    /**
     * Checks a credential without moving money: amount, currency, recipient and memo of the transfer, and a trial run
     * of what is not on the chain yet. Answers the payer, or undefined where the chain does not know the transaction
     * that the credential names. Throws Refusal and ChainUnreachable.
     */
    async check(credential: PaymentCredential): Promise<string | undefined> {
      try {
        const { details } = await Method.validateCredential([checking], forMppx(credential));
        const payer = isJsonObject(details) ? details.sender : undefined;
        if (typeof payer !== 'string') throw new Error('the payment does not tell who paid');
        const signed = isJsonObject(details) ? details.serializedTransaction : undefined;
        if (typeof signed === 'string') await tryOut(signed, payer);
        return payer;
      } catch (error) {
        if (error instanceof BaseError && error.name === 'TransactionReceiptNotFoundError') return undefined;
        throw explain(error);
      }
    },

    /**
     * Whether the payer has signed, for a transaction says itself whose it is. `caller`: the key that has, where it acts
     * for the payer. Throws Refusal where it is another's, and ChainUnreachable.
     */
    async whoSigned(serialized: string, payer: string): Promise<{ payerIsProven: boolean; caller?: string }> {
      const signer = signerOf(serialized);
      if (!signer) return { payerIsProven: false };
      if (signer.address.toLowerCase() === payer.toLowerCase()) return { payerIsProven: true };
      if (!signer.isKey) throw new Refusal('verification-failed', 'the transaction is not signed by its sender');
      const key = { account: payer as Hex, accessKey: signer.address };
      const { expiry, isRevoked } = await Actions.accessKey.getMetadata(clientOf(rpc), key).catch((error: unknown) => {
        throw explain(error);
      });
      if (!isRevoked && Number(expiry) * 1000 > Date.now()) return { payerIsProven: false, caller: signer.address };
      // The chain learns of the key by this very transaction.
      if (signer.isAuthorizedHere) return { payerIsProven: false };
      throw new Refusal('verification-failed', 'the transaction is signed by a key that does not act for its sender');
    },

    /** Signs as fee payer where fees are sponsored, sends, and waits for the block. Never throws. */
    async broadcast(credential: PaymentCredential): Promise<Settlement> {
      const sending: { progress: Progress } = { progress: 'not sent' };
      const watched: Rpc = async (method, params) => {
        if (!method.startsWith('eth_sendRawTransaction')) return rpc(method, params);
        sending.progress = 'sent';
        try {
          const answer = await rpc(method, params);
          if (isJsonObject(answer) && answer.status === '0x0') sending.progress = 'reverted';
          return answer;
        } catch (error) {
          // A node that has the transaction already, from the payer perhaps, complains about it or its nonce.
          const hasIt = error instanceof ChainProblem && /already|known|nonce/i.test(error.message);
          if (!hasIt && !isNoVerdict(error)) sending.progress = 'rejected';
          throw error;
        }
      };
      try {
        // mppx derives this type from the schema of a whole HTTP request; `check` has applied it to the credential.
        const input = { credential: forMppx(credential), request: credential.request } as unknown as BroadcastInput;
        const receipt = await chargeOver(watched).broadcast?.(input);
        if (!receipt) return refused('this payment cannot be sent');
        return { state: 'settled', transaction: receipt.reference, amount: credential.amount };
      } catch (error) {
        if (sending.progress === 'sent') {
          return unknown('the transaction was sent, but the chain has not confirmed it');
        }
        if (sending.progress === 'reverted') return refused('the transaction was included, but it failed');
        if (sending.progress === 'not sent' && isNoVerdict(causeOf(error))) return unknown('the chain gave no answer');
        return refused(explain(error).message);
      }
    },
  };
}

export type TempoChain = ReturnType<typeof openTempoChain>;

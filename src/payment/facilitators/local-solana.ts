/** Signs and sends for the Solana scheme of @x402/svm, one network each. Loaded only when this process settles. */
import {
  type Base64EncodedWireTransaction,
  createDefaultRpcTransport,
  createKeyPairSignerFromBytes,
  createSolanaRpcFromTransport,
  isSolanaError,
  type RpcTransport,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_TRANSACTION_SIGNATURE_VERIFICATION_FAILURE,
} from '@solana/kit';
import { InMemoryPendingSettlementStore } from '@x402/core/facilitator';
import type { FacilitatorSvmSigner } from '@x402/svm';
import { SettlementCache, toFacilitatorSvmSigner } from '@x402/svm';
import { ExactSvmScheme } from '@x402/svm/exact/facilitator';
import { ExactSvmSchemeV1 } from '@x402/svm/exact/v1/facilitator';
import { Agent, type Dispatcher } from 'undici';
import { asJsonObject } from '../../json.ts';
import { decodeBase58 } from '../../on-chain/base58.ts';
import { connect } from '../../outgoing/connect.ts';
import { readSolanaPayment } from '../chains/solana-transaction.ts';
import type { Attempt } from './attempt.ts';
import { amountOf } from './json.ts';
import { type LocalNetwork, MALFORMED, type SettlingTimes, type SolanaNetworkOptions } from './local-network.ts';
import { costProblem, leastPrice } from './settling-cost.ts';
import { feePayerProblem, MOST_SIGNATURES, MOST_UNIT_PRICE, MOST_UNITS, USUAL_LAMPORTS } from './solana-limits.ts';

/** What a node said of the transaction itself, as opposed to not answering. */
const VERDICT = /^(?:Simulation failed|Transaction failed onchain): /;
/** Without an end of its own a question would wait for a silent node for minutes. */
const ANSWER_TIMEOUT_MS = 10_000;
/** Our balance moves while others are settled: then it is asked again. */
const MOST_SIMULATIONS = 10;
/** Answers by which a Solana node turns a transaction down without passing it on. */
const turnedDown = (error: unknown): boolean =>
  isSolanaError(error, SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE) ||
  isSolanaError(error, SOLANA_ERROR__JSON_RPC__SERVER_ERROR_TRANSACTION_SIGNATURE_VERIFICATION_FAILURE);

const LIMITS = {
  maxComputeUnits: MOST_UNITS,
  maxPriorityFeeMicroLamports: MOST_UNIT_PRICE,
  maxRequiredSignatures: MOST_SIGNATURES,
};

/**
 * More than any answer to what is asked here has. To read one of 16 MB, with every digit of its numbers, keeps all else waiting for
 * seconds.
 */
const MOST_BYTES = 1024 * 1024;

/** Gives up an answer that is longer, and one that is compressed, which nobody asked for and of which gigabytes may be made. */
function bounded(handler: Dispatcher.DispatchHandler): Dispatcher.DispatchHandler {
  let bytes = 0;
  return {
    onRequestStart: (...started) => handler.onRequestStart?.(...started),
    onResponseStart(controller, status, headers, message) {
      if (headers['content-encoding']) controller.abort(new Error('the answer is compressed'));
      else handler.onResponseStart?.(controller, status, headers, message);
    },
    onResponseData(controller, piece) {
      bytes += piece.length;
      if (bytes > MOST_BYTES) controller.abort(new Error('the answer is too large'));
      else handler.onResponseData?.(controller, piece);
    },
    onResponseEnd: (...ended) => handler.onResponseEnd?.(...ended),
    onResponseError: (...failed) => handler.onResponseError?.(...failed),
  };
}

/**
 * @solana/kit sets a content-length and Node's fetch adds its own; the npm undici, through which every fetch goes
 * once it is loaded, refuses the pair. It counts the bytes by itself. It also asks for answers that are compressed.
 */
function newDispatcher() {
  return new Agent({ connect }).compose((dispatch) => (request, handler) => {
    const isKept = (name: string) => !['content-length', 'accept-encoding'].includes(name.toLowerCase());
    const headers = Object.fromEntries(Object.entries(request.headers ?? {}).filter(([name]) => isKept(name)));
    return dispatch({ ...request, headers }, bounded(handler));
  });
}

/** Gives up whatever is asked after so long. */
const withinTime =
  (transport: RpcTransport, ms: number): RpcTransport =>
  (request) => {
    const late = AbortSignal.timeout(ms);
    return transport({ ...request, signal: request.signal ? AbortSignal.any([request.signal, late]) : late });
  };

export async function createLocalSolanaNetwork(
  options: SolanaNetworkOptions,
  { confirmationTimeoutMs, answerTimeoutMs = ANSWER_TIMEOUT_MS }: SettlingTimes,
): Promise<LocalNetwork> {
  const keyPair = await createKeyPairSignerFromBytes(decodeBase58(options.secretKey));
  const transport = createDefaultRpcTransport({ url: options.rpcUrl, dispatcher_NODE_ONLY: newDispatcher() });
  const rpc = createSolanaRpcFromTransport(withinTime(transport, answerTimeoutMs));
  const names = [options.caip2, ...(options.v1Name ? [options.v1Name] : [])];
  const signer = toFacilitatorSvmSigner(keyPair, Object.fromEntries(names.map((name) => [name, rpc])));
  const pendingSettlementStore = new InMemoryPendingSettlementStore();
  // One for both versions: the same transaction must not be settled once in each.
  const settlements = new SettlementCache();

  const balance = async (): Promise<bigint> =>
    (await rpc.getBalance(keyPair.address, { commitment: 'confirmed' }).send()).value;

  /** Runs a transaction on the node without sending it. Throws where it fails, or costs us more than its fee. */
  async function simulate(transaction: string): Promise<void> {
    const { fee } = readSolanaPayment(transaction);
    for (let tries = MOST_SIMULATIONS; tries > 0; tries -= 1) {
      const before = await balance();
      const { value } = await rpc
        .simulateTransaction(transaction as Base64EncodedWireTransaction, {
          encoding: 'base64',
          commitment: 'confirmed',
          accounts: { addresses: [keyPair.address], encoding: 'base64' },
        })
        .send();
      if (value.err) {
        const plain = (_: string, part: unknown) => (typeof part === 'bigint' ? part.toString() : part);
        throw new Error(`Simulation failed: ${JSON.stringify(value.err, plain)}`);
      }
      const after = value.accounts[0]?.lamports;
      if (after === undefined) break;
      if (before - after <= fee) return;
      if (before === (await balance())) throw new Error('Simulation failed: the fee payer would pay more than the fee');
    }
    throw new Error('the node does not tell what the transaction costs');
  }

  async function noting<T>(attempt: Attempt, call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      const message = error instanceof Error ? error.message : '';
      if (VERDICT.test(message)) {
        attempt.rejected = attempt.sent;
        attempt.refusal ??= message;
        // The scheme tells a failure on the chain by the class of its error.
        throw error;
      }
      attempt.unreachable = true;
      throw new Error('the node did not answer');
    }
  }

  function signerFor(attempt: Attempt): FacilitatorSvmSigner {
    return {
      ...signer,
      simulateTransaction: (transaction) => noting(attempt, () => simulate(transaction)),
      sendTransaction: async (...call) => {
        attempt.sent = true;
        try {
          return await signer.sendTransaction(...call);
        } catch (error) {
          attempt.rejected = turnedDown(error);
          attempt.unreachable = !attempt.rejected;
          throw new Error(attempt.rejected ? 'the node turned the transaction down' : 'the node did not answer');
        }
      },
      confirmTransaction: (...call) =>
        noting(attempt, () => Promise.race([signer.confirmTransaction(...call), overdue(confirmationTimeoutMs)])),
    };
  }

  return {
    async kinds() {
      await rpc
        .getLatestBlockhash()
        .send()
        .catch(() => {
          throw new Error(`the node of ${options.caip2} does not answer`);
        });
      const kind = { scheme: 'exact', extra: { feePayer: keyPair.address } };
      return [
        { ...kind, x402Version: 2, network: options.caip2 },
        ...(options.v1Name ? [{ ...kind, x402Version: 1, network: options.v1Name }] : []),
      ];
    },

    async account() {
      const left = await balance();
      return { address: keyPair.address, balance: left, decimals: 9, lasts: left / USUAL_LAMPORTS };
    },

    least: async () => leastPrice(USUAL_LAMPORTS, { decimals: 9, value: options.nativeValue }),

    // Version 1 of the scheme has no limits, and both write to the console what they cannot decode.
    problem(payload, requirements) {
      try {
        const payment = readSolanaPayment(String(asJsonObject(asJsonObject(payload).payload).transaction));
        const price = amountOf(requirements) ?? 0n;
        const coin = { decimals: 9, value: options.nativeValue } as const;
        return feePayerProblem(payment, keyPair.address) ?? costProblem(payment.fee, price, coin);
      } catch {
        return MALFORMED;
      }
    },

    scheme({ version, name }, attempt) {
      if (name !== 'exact') return undefined;
      const bound = signerFor(attempt);
      return version === 1
        ? new ExactSvmSchemeV1(bound, settlements)
        : new ExactSvmScheme(bound, settlements, { pendingSettlementStore, ...LIMITS });
    },

    close: () => undefined,
  };
}

const overdue = (afterMs: number): Promise<never> =>
  new Promise((_, reject) => {
    setTimeout(() => reject(new Error('the chain has not confirmed in time')), afterMs).unref();
  });

/**
 * Charges on Tempo: a TIP-20 transfer that the payer signs and the gateway sends (`transaction`, "pull"), or that the
 * payer has sent already (`hash`, "push"). Source: draft-tempo-charge-00, and mppx for the memo.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { keccak_256 } from '@noble/hashes/sha3';
import type { Route } from '../../catalogue/types.ts';
import { ChainUnreachable, createRpc } from '../chains/rpc.ts';
import { Refusal, type Settlement } from '../rail.ts';
import type { Credential } from './credential.ts';
import type { ChargeMethod, MethodVerdict } from './method.ts';
import { chargeReceipt } from './receipt.ts';
import type { TempoChain } from './tempo-chain.ts';
import { type ExpectedTransfer, findTransfer } from './tempo-transfer.ts';

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
/** What sending and including a transaction may take. */
const SETTLE_MARGIN_MS = 5_000;
/** A payer's node may be ahead of ours by this much. */
const PUSH_WAIT_MS = 5_000;
const FIRST_PUSH_PAUSE_MS = 250;
const CLOCK_SKEW_SECONDS = 60;

/** What is kept to ask the chain with. */
type Trace = { readonly method: 'tempo' } & (
  | { readonly mode: 'pull'; readonly transfer: ExpectedTransfer }
  | { readonly mode: 'push'; readonly hash: string; readonly amount: string }
);

type Payload =
  | { readonly type: 'transaction'; readonly signature: string }
  | { readonly type: 'hash'; readonly hash: string };

function readPayload({ type, signature, hash }: Credential['payload']): Payload {
  if (type === 'transaction' && typeof signature === 'string' && /^0x[0-9a-f]+$/i.test(signature)) {
    return { type, signature };
  }
  if (type === 'hash' && typeof hash === 'string' && /^0x[0-9a-f]{64}$/i.test(hash)) return { type, hash };
  throw new Refusal(
    'malformed-credential',
    'a tempo payload is {type: "transaction", signature} or {type: "hash", hash}',
  );
}

/** The end of the memo of every transfer that pays this challenge: the start of the keccak256 of its id. */
const memoEnd = (challengeId: string): string =>
  Buffer.from(keccak_256(Buffer.from(challengeId)).subarray(0, 7)).toString('hex');

export function createTempoMethod(
  options: TempoOptions,
  { challengeLifetimeMs, now }: { challengeLifetimeMs: number; now(): number },
): ChargeMethod {
  const rpc = createRpc(options.rpcUrl, RPC_TIMEOUT_MS);
  const { chainId, currency, recipient } = options;
  let loading: Promise<TempoChain> | undefined;
  const load = (): Promise<TempoChain> => {
    loading ??= import('./tempo-chain.ts').then(({ openTempoChain }) =>
      openTempoChain({ chainId, currency, recipient, feePayerKey: options.feePayerKey }, rpc),
    );
    return loading;
  };

  async function verifyPush(chain: TempoChain, credential: Credential, hash: string): Promise<MethodVerdict> {
    const giveUp = now() + PUSH_WAIT_MS;
    for (let pause = FIRST_PUSH_PAUSE_MS; ; pause *= 2) {
      const payer = await chain.check(credential);
      if (payer !== undefined) {
        const trace: Trace = { method: 'tempo', mode: 'push', hash, amount: credential.amount.toString() };
        return { payer, payerIsProven: true, settlesFirst: true, trace: JSON.stringify(trace) };
      }
      if (now() + pause > giveUp) {
        throw new Refusal(
          'verification-failed',
          'the chain does not know this transaction: send the same credential again once it is included',
        );
      }
      await delay(pause);
    }
  }

  async function verifyPull(
    chain: TempoChain,
    credential: Credential,
    signature: string,
    route: Route,
  ): Promise<MethodVerdict> {
    const { challenge, amount } = credential;
    const signed = chain.readTransfer(signature, memoEnd(challenge.id));
    const seconds = now() / 1000;
    const fail = (reason: string) => new Refusal('verification-failed', reason);
    if (signed.chainId !== chainId) throw fail(`the transaction is for chain ${signed.chainId}, asked is ${chainId}`);
    if (signed.memo === undefined) throw fail('the transaction carries no memo for this challenge');
    if (signed.validAfter > seconds) throw fail('the transaction is not valid yet: see validAfter');
    // Without an end nobody could ever say that it was not sent; a late one would outlive what is searched for it.
    if (
      signed.validBefore === undefined ||
      signed.validBefore > Date.parse(challenge.expires) / 1000 + CLOCK_SKEW_SECONDS
    ) {
      throw fail('the transaction needs a validBefore that is no later than the challenge expires');
    }
    if (signed.validBefore <= seconds)
      throw new Refusal('payment-expired', 'the transaction has expired: sign a new one');
    const [payer, height] = await Promise.all([chain.check(credential), rpc('eth_blockNumber', [])]);
    if (payer === undefined) throw fail('the transaction does not tell who pays');
    const leftMs = signed.validBefore * 1000 - now();
    const transfer: ExpectedTransfer = {
      currency,
      payer,
      recipient,
      amount: amount.toString(),
      memo: signed.memo,
      validBefore: signed.validBefore,
      fromBlock: Number(height),
    };
    const trace: Trace = { method: 'tempo', mode: 'pull', transfer };
    return {
      payer,
      payerIsProven: signed.provenSigner,
      // A signature that only the chain can check must not buy work before the chain has checked it.
      settlesFirst: !signed.provenSigner || leftMs < route.deadlineMs + SETTLE_MARGIN_MS,
      trace: JSON.stringify(trace),
    };
  }

  const pushed = (hash: string, amount: bigint): Settlement => ({
    state: 'settled',
    receipt: chargeReceipt({ method: 'tempo', reference: hash, amount, settledAt: now() }),
  });

  return {
    name: 'tempo',
    network: `eip155:${chainId}`,
    currency,
    decimals: 6,
    recipient,
    details: { chainId, ...(options.feePayerKey === undefined ? {} : { feePayer: true }) },
    challengeLifetimeMs: () => challengeLifetimeMs,

    /**
     * The end of the memo stands for challenge and transaction at once: a challenge has one, so a second transaction
     * under it is refused as the same payment; and two challenges whose ids collide in these seven bytes, which
     * somebody might collect on purpose, are one payment too, so that one transaction never buys two calls.
     */
    identify(credential) {
      const payload = readPayload(credential.payload);
      return {
        id: `mpp:eip155:${chainId}:${memoEnd(credential.challenge.id)}`,
        proof: payload.type === 'hash' ? payload.hash : payload.signature,
      };
    },

    async verify(credential, route) {
      const payload = readPayload(credential.payload);
      try {
        const chain = await load();
        return payload.type === 'hash'
          ? await verifyPush(chain, credential, payload.hash)
          : await verifyPull(chain, credential, payload.signature, route);
      } catch (error) {
        if (!(error instanceof ChainUnreachable)) throw error;
        throw new Refusal(
          'verification-failed',
          'the chain gives no answer: send the same credential again in a moment',
        );
      }
    },

    async settle(credential): Promise<Settlement> {
      const payload = readPayload(credential.payload);
      const { amount } = credential;
      // The payer's own transaction: verify has seen it on the chain.
      if (payload.type === 'hash') return pushed(payload.hash, amount);
      const sent = await (await load()).broadcast(credential);
      return sent.state === 'settled' ? pushed(sent.transaction, amount) : sent;
    },

    async outcome(text) {
      const trace: Trace = JSON.parse(text);
      return trace.mode === 'push'
        ? pushed(trace.hash, BigInt(trace.amount))
        : findTransfer(rpc, trace.transfer, now());
    },
  };
}

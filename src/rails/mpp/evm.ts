/**
 * Charges on an EVM chain with an EIP-3009 `authorization`: verified and settled by a facilitator, for which it is a
 * payment of x402's `exact` scheme. Source: draft-evm-charge-00 and mppx's `evm.charge`.
 */

import type { Atomic } from '../../money.ts';
import { keccak256 } from '../../on-chain/keccak.ts';
import {
  type Eip3009Authorization,
  eip3009Identity,
  findEip3009Settlement,
  readEip3009,
} from '../../payment/authorizations/eip3009.ts';
import { evmConfirmations } from '../../payment/chains/confirmations.ts';
import type { LogProgress } from '../../payment/chains/evm-logs.ts';
import { openLooks } from '../../payment/chains/looks.ts';
import { createRpc } from '../../payment/chains/rpc.ts';
import { createEvmHolders } from '../../payment/exposure/holder.ts';
import { type Facilitator, FacilitatorUnreachable } from '../../payment/facilitators/facilitator.ts';
import { Refusal } from '../../payment/refusal.ts';
import { demandOutliving, SETTLE_MARGIN_MS } from '../../payment/settle-upfront.ts';
import type { IssuedChallenge } from './challenge.ts';
import type { PaymentCredential } from './credential.ts';
import type { ChargeMethod, Work } from './method.ts';

export interface EvmOptions {
  /** Neutral id of the network: other rails know it by that, too. */
  readonly network: string;
  readonly chainId: number;
  /** `name` and `version` are those of the token's EIP-712 domain. */
  readonly asset: {
    readonly address: string;
    readonly decimals: number;
    readonly name: string;
    readonly version: string;
  };
  readonly payTo: string;
  /** Where outcomes are asked for. */
  readonly rpcUrl: string;
  readonly facilitator: Pick<Facilitator, 'verify' | 'settle'>;
  /** See `ChargeMethod.isOpen`. */
  readonly isOpen?: () => boolean;
  /** See `ChargeMethod.leastPrice`. Left out: settling costs us nothing. */
  readonly leastPrice?: () => bigint;
}

/** As it is stored. */
interface RecoveryQuery {
  readonly method: 'evm';
  /** What was charged then, and not what is by now. Those of an earlier release have none of these. */
  readonly network?: string;
  readonly asset?: string;
  readonly payTo?: string;
  readonly payer: string;
  readonly nonce: string;
  readonly validBefore: number;
  /** Seconds since the epoch: the challenge was open by then, so it cannot have been settled earlier. */
  readonly since: number;
  /** Atomic units. */
  readonly amount: string;
}

function readAuthorization({ payload }: PaymentCredential): Eip3009Authorization {
  if (payload.type === 'authorization') return readEip3009(payload, payload.signature);
  throw new Refusal('malformed-credential', 'the evm payload has to be of type "authorization"');
}

/** The nonce of the one authorization that pays this challenge. */
const nonceOf = ({ id, realm }: IssuedChallenge): string =>
  `0x${keccak256(Buffer.from(`${id}${realm}`)).toString('hex')}`;

export function createEvmMethod(
  options: EvmOptions,
  { challengeLifetimeMs, now }: { challengeLifetimeMs: number; now(): number },
): ChargeMethod {
  const { network, chainId, asset, payTo, rpcUrl, facilitator, isOpen, leastPrice = () => 0n } = options;
  const chain = `eip155:${chainId}`;
  const holders = createEvmHolders(rpcUrl, asset.address, now);
  const looks = openLooks<LogProgress>(now);

  /** Authorizations end when their challenge does: it stays open long enough to be settled after the work. */
  const lifetimeMs = ({ deadlineMs }: Work): number =>
    challengeLifetimeMs + deadlineMs + SETTLE_MARGIN_MS.longChallenge;

  const requirementsOf = (amount: Atomic, work: Work) => ({
    scheme: 'exact',
    network: chain,
    amount: amount.toString(),
    asset: asset.address,
    payTo,
    maxTimeoutSeconds: Math.ceil(lifetimeMs(work) / 1000),
    extra: { name: asset.name, version: asset.version },
  });

  return {
    name: 'evm',
    network,
    currency: asset.address,
    decimals: asset.decimals,
    recipient: payTo,
    details: { chainId, credentialTypes: ['authorization'], decimals: asset.decimals },
    ...(isOpen && { isOpen }),
    leastPrice,
    challengeLifetimeMs: lifetimeMs,
    upfront: () => undefined,
    leastSecondsLeft: () => undefined,

    /** The nonce is made from the challenge, and the token takes it from a payer only once. */
    identify(credential) {
      const { payer, shown } = readAuthorization(credential);
      return { id: eip3009Identity(chain, asset.address, payer, nonceOf(credential.challenge)), shown };
    },

    async verify(credential, work, settlesNow) {
      const { challenge, amount } = credential;
      const authorization = readAuthorization(credential);
      if (authorization.nonce !== nonceOf(challenge)) {
        throw new Refusal('verification-failed', 'the authorization is for another challenge');
      }
      const terms = { chain, asset: asset.address, payTo, amount };
      authorization.check(terms, now());
      const requirements = requirementsOf(amount, work);
      const payment = { x402Version: 2, payload: authorization.payload, accepted: requirements };
      // A challenge stays open long enough to be settled after the work: who answers it too late is told so.
      if (!settlesNow) demandOutliving({ goodForMs: authorization.endsAt - now(), deadlineMs: work.deadlineMs });
      const verdict = await facilitator.verify(payment, requirements).catch((error: unknown) => {
        if (!(error instanceof FacilitatorUnreachable)) throw error;
        const reason = 'the payment cannot be checked now: send the same credential again';
        throw new Refusal('verification-failed', reason, { cause: error });
      });
      if (!verdict.valid) throw new Refusal('verification-failed', verdict.reason);
      const { payer, nonce, endsAt, isCounterfactual } = authorization;
      const query: RecoveryQuery = {
        method: 'evm',
        network,
        asset: asset.address,
        payTo,
        payer,
        nonce,
        validBefore: endsAt / 1000,
        since: Math.floor((Date.parse(challenge.expires) - lifetimeMs(work)) / 1000) - 60,
        amount: amount.toString(),
      };
      return {
        chain,
        payer,
        payerIsProven: true,
        holder: await holders(payer, { isCounterfactual }),
        upfront: verdict.deploys ? 'undeployed' : undefined,
        recoveryQuery: JSON.stringify(query),
        settle: () => facilitator.settle(payment, requirements),
      };
    },

    confirmations: (transaction) => evmConfirmations(createRpc(rpcUrl), transaction),

    recover(text) {
      const { amount: value, ...kept }: RecoveryQuery = JSON.parse(text);
      return findEip3009Settlement({ asset: asset.address, payTo, ...kept, rpcUrl, value }, looks);
    },
  };
}

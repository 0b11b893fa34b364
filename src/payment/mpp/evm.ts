/**
 * Charges on an EVM chain with an EIP-3009 `authorization`. It says the same as a payment of x402's `exact` scheme, so
 * it is verified and settled by the same facilitator. Source: draft-evm-charge-00 and mppx's `evm.charge`.
 */
import { keccak_256 } from '@noble/hashes/sha3';
import type { Route } from '../../catalogue/types.ts';
import { findEip3009Settlement } from '../chains/evm.ts';
import { type Facilitator, FacilitatorUnreachable } from '../facilitators/facilitator.ts';
import { eip3009Id } from '../identity.ts';
import { Refusal, type Settlement } from '../rail.ts';
import type { Challenge } from './challenge.ts';
import type { Credential } from './credential.ts';
import type { ChargeMethod } from './method.ts';
import { chargeReceipt } from './receipt.ts';

export interface EvmOptions {
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
}

/** What settling may take: the token refuses an authorization whose time has passed by then. */
const SETTLE_MARGIN_MS = 60_000;

/** EIP-3009 `TransferWithAuthorization` with its signature; numbers are decimal strings, times in seconds. */
interface Authorization {
  readonly from: string;
  readonly to: string;
  readonly value: string;
  readonly validAfter: string;
  readonly validBefore: string;
  readonly nonce: string;
  readonly signature: string;
}

/** What is kept to ask the chain with. */
interface Trace {
  readonly method: 'evm';
  readonly payer: string;
  readonly nonce: string;
  readonly validBefore: number;
  /** Seconds since the epoch: the challenge was open by then, so it cannot have been settled earlier. */
  readonly since: number;
  readonly amount: string;
}

const ADDRESS = /^0x[0-9a-f]{40}$/i;
const NUMBER = /^[0-9]{1,38}$/;

function readAuthorization(payload: Credential['payload']): Authorization {
  const take = (name: keyof Authorization, form: RegExp): string => {
    const value = payload[name];
    if (typeof value !== 'string' || !form.test(value)) {
      throw new Refusal('malformed-credential', `payload.${name} is not what an evm authorization has there`);
    }
    return value;
  };
  if (payload.type !== 'authorization') {
    throw new Refusal('malformed-credential', 'the evm payload has to be of type "authorization"');
  }
  return {
    from: take('from', ADDRESS),
    to: take('to', ADDRESS),
    value: take('value', NUMBER),
    validAfter: take('validAfter', NUMBER),
    validBefore: take('validBefore', NUMBER),
    nonce: take('nonce', /^0x[0-9a-f]{64}$/i),
    signature: take('signature', /^0x[0-9a-f]+$/i),
  };
}

/** The nonce of the one authorization that pays this challenge. */
const nonceOf = ({ id, realm }: Challenge): string =>
  `0x${Buffer.from(keccak_256(Buffer.from(`${id}${realm}`))).toString('hex')}`;

const same = (left: string, right: string): boolean => left.toLowerCase() === right.toLowerCase();

export function createEvmMethod(
  options: EvmOptions,
  { challengeLifetimeMs, now }: { challengeLifetimeMs: number; now(): number },
): ChargeMethod {
  const { chainId, asset, payTo, rpcUrl, facilitator } = options;
  const network = `eip155:${chainId}`;

  /** Authorizations end when their challenge does: it stays open long enough to be settled after the work. */
  const lifetimeMs = (route: Route): number => challengeLifetimeMs + route.deadlineMs + SETTLE_MARGIN_MS;

  /** The credential as an x402 version 2 payment of the `exact` scheme. */
  const asX402 = (authorization: Authorization, amount: bigint, route: Route) => {
    const { signature, ...rest } = authorization;
    const requirements = {
      scheme: 'exact',
      network,
      amount: amount.toString(),
      asset: asset.address,
      payTo,
      maxTimeoutSeconds: Math.ceil(lifetimeMs(route) / 1000),
      extra: { name: asset.name, version: asset.version },
    };
    return {
      payment: { x402Version: 2, payload: { signature, authorization: rest }, accepted: requirements },
      requirements,
    };
  };

  function check(authorization: Authorization, { challenge, amount }: Credential): void {
    const fail = (reason: string) => new Refusal('verification-failed', reason);
    if (!same(authorization.nonce, nonceOf(challenge))) throw fail('the authorization is for another challenge');
    if (!same(authorization.to, payTo)) throw fail(`the authorization pays ${authorization.to}, asked is ${payTo}`);
    const value = BigInt(authorization.value);
    if (value < amount) {
      throw new Refusal('payment-insufficient', `the authorization is for ${value}, asked are ${amount}`);
    }
    if (value !== amount) throw fail(`the authorization is for ${value}, asked are ${amount}`);
    if (Number(authorization.validBefore) * 1000 <= now()) {
      throw new Refusal('payment-expired', 'the authorization has expired: sign a new one');
    }
  }

  const settled = (transaction: string, amount: bigint): Settlement => ({
    state: 'settled',
    receipt: chargeReceipt({ method: 'evm', reference: transaction, amount, settledAt: now() }),
  });

  return {
    name: 'evm',
    network,
    currency: asset.address,
    decimals: asset.decimals,
    recipient: payTo,
    details: { chainId, credentialTypes: ['authorization'], decimals: asset.decimals },
    challengeLifetimeMs: lifetimeMs,

    /** The nonce is made from the challenge, and the token takes it from a payer only once. */
    identify: (credential) => {
      const { from, signature } = readAuthorization(credential.payload);
      return { id: eip3009Id(network, asset.address, from, nonceOf(credential.challenge)), proof: signature };
    },

    async verify(credential, route) {
      const authorization = readAuthorization(credential.payload);
      check(authorization, credential);
      const { payment, requirements } = asX402(authorization, credential.amount, route);
      const verdict = await facilitator.verify(payment, requirements).catch((error: unknown) => {
        if (!(error instanceof FacilitatorUnreachable)) throw error;
        throw new Refusal('verification-failed', 'the payment cannot be checked now: send the same credential again');
      });
      if (!verdict.valid) throw new Refusal('verification-failed', verdict.reason);
      const leftMs = Number(authorization.validBefore) * 1000 - now();
      const trace: Trace = {
        method: 'evm',
        payer: authorization.from,
        nonce: authorization.nonce,
        validBefore: Number(authorization.validBefore),
        since: Math.floor((Date.parse(credential.challenge.expires) - lifetimeMs(route)) / 1000) - 60,
        amount: authorization.value,
      };
      return {
        payer: authorization.from,
        payerIsProven: true,
        settlesFirst: leftMs < route.deadlineMs + SETTLE_MARGIN_MS,
        trace: JSON.stringify(trace),
      };
    },

    async settle(credential, route): Promise<Settlement> {
      const { amount } = credential;
      const { payment, requirements } = asX402(readAuthorization(credential.payload), amount, route);
      const answer = await facilitator.settle(payment, requirements);
      return answer.state === 'settled' ? settled(answer.transaction, amount) : answer;
    },

    async outcome(text) {
      const { payer, nonce, validBefore, since, amount }: Trace = JSON.parse(text);
      const found = await findEip3009Settlement({
        rpcUrl,
        asset: asset.address,
        payer,
        payTo,
        nonce,
        value: amount,
        validBefore,
        since,
      });
      switch (found.state) {
        case 'settled':
          return settled(found.transaction, found.amount);
        case 'unsettled':
          return { state: 'refused', reason: found.reason };
        case 'unknown':
          return found;
      }
    },
  };
}

/** The MPP rail: the `Payment` HTTP authentication scheme (draft 01), intent `charge`. */
import { createHash } from 'node:crypto';
import type { Route } from '../../catalogue/types.ts';
import { Problem } from '../../errors.ts';
import { type Money, toAtomic, toDecimal } from '../../money.ts';
import { acceptedMethods } from '../mpp/accept-payment.ts';
import { bindingMismatch, bodyDigest, isOurs, issueChallenge, type Secrets, writeChallenge } from '../mpp/challenge.ts';
import { type Credential, readCredential } from '../mpp/credential.ts';
import { createEvmMethod, type EvmOptions } from '../mpp/evm.ts';
import type { ChargeMethod } from '../mpp/method.ts';
import { createTempoMethod, type TempoOptions } from '../mpp/tempo.ts';
import { paymentProblem } from '../problem-types.ts';
import { type Proof, type Quote, type Rail, Refusal } from '../rail.ts';

export interface MppOptions {
  /** 32 bytes or more each. Challenges of an old one are honoured until they expire. */
  readonly secrets: Secrets;
  /** Who asks for the money, as wallets show it: the public host name. */
  readonly realm: string;
  /** How long a caller has to pay. Default: five minutes. */
  readonly challengeLifetimeMs?: number;
  readonly tempo?: TempoOptions;
  readonly evm?: EvmOptions;
  now?(): number;
}

export interface MppProof extends Proof {
  readonly credential: Credential;
  readonly method: ChargeMethod;
}

/** One way to pay, as discovery documents list it: `amount` in atomic units of `currency`. */
export interface MppOffer {
  readonly intent: 'charge';
  readonly method: string;
  readonly amount: string;
  readonly currency: string;
}

export interface MppRail extends Rail<MppProof> {
  readonly name: 'mpp';
  /** What a route can be paid with; `price` is its listed price unless given. */
  offers(route: Route, price?: Money): MppOffer[];
}

const LIFETIME_MS = 300_000;
const MIN_SECRET_BYTES = 32;

function checkOptions({ secrets, realm, tempo, evm }: MppOptions): void {
  // `|` separates what the challenge's id is made of; quotes would end the header's parameter.
  if (!/^[\x20-\x7e]+$/.test(realm) || /["\\|]/.test(realm)) {
    throw new Error('the MPP realm must be printable ASCII without ", \\ and |: use the public host name');
  }
  if (secrets.some((secret) => Buffer.byteLength(secret) < MIN_SECRET_BYTES)) {
    throw new Error(`an MPP secret has fewer than ${MIN_SECRET_BYTES} bytes: make one with "openssl rand -hex 32"`);
  }
  if (!tempo && !evm) throw new Error('MPP needs at least one payment method: configure tempo or evm');
}

/** The `request` parameter; its members are in canonical order (JCS). */
function chargeRequest(method: ChargeMethod, amount: bigint): string {
  const { currency, details, recipient } = method;
  const request = { amount: amount.toString(), currency, methodDetails: details, recipient };
  return Buffer.from(JSON.stringify(request)).toString('base64url');
}

export function openMppRail(options: MppOptions): MppRail {
  checkOptions(options);
  const { secrets, realm, challengeLifetimeMs = LIFETIME_MS, now = Date.now } = options;
  const methods: ChargeMethod[] = [
    ...(options.tempo ? [createTempoMethod(options.tempo, { challengeLifetimeMs, now })] : []),
    ...(options.evm ? [createEvmMethod(options.evm, { challengeLifetimeMs, now })] : []),
  ];

  /** In order: is the challenge ours, is it open, is it for this request, does it still cost as much. */
  function checkChallenge({ challenge, binding, amount }: Credential, method: ChargeMethod, quote: Quote): void {
    if (!isOurs(challenge, secrets)) {
      throw new Refusal('invalid-challenge', 'the challenge was not issued here, or was changed: pay a fresh one');
    }
    if (Date.parse(challenge.expires) <= now()) {
      throw new Refusal('payment-expired', `the challenge expired at ${challenge.expires}: pay a fresh one`);
    }
    const mismatch = bindingMismatch(binding, quote.request);
    if (mismatch !== undefined) {
      throw new Refusal('invalid-challenge', `the challenge belongs to another request: ${mismatch}`);
    }
    if (challenge.digest !== bodyDigest(quote.request.body)) {
      throw new Refusal('verification-failed', 'the body is not the one the challenge was issued for');
    }
    if (challenge.request !== chargeRequest(method, amount)) {
      throw new Refusal('invalid-challenge', 'the gateway is paid otherwise by now: pay a fresh challenge');
    }
    const due = toAtomic(quote.amount, method.decimals);
    // More than the price is possible where it was lowered since; it was agreed on, and may have been paid already.
    if (amount < due) {
      throw new Refusal('payment-insufficient', `the challenge is for ${amount}, the price is ${due} atomic units`);
    }
  }

  return {
    name: 'mpp',

    offers: (route, price = route.listing.price) =>
      methods.map((method) => ({
        intent: 'charge',
        method: method.name,
        amount: toAtomic(price, method.decimals).toString(),
        currency: method.currency,
      })),

    read({ headers }) {
      const credential = readCredential(headers);
      if (!credential) return undefined;
      const name = credential.challenge.method;
      const method = methods.find((each) => each.name === name);
      if (!method) {
        const offered = methods.map((each) => each.name).join(', ');
        throw new Problem('method_unsupported', `The payment method is not offered here: pay with ${offered}`);
      }
      const { id, proof } = method.identify(credential);
      // The identity can be seen on the chain, and so can the proof once it is settled. The challenge's id cannot.
      const fingerprint = createHash('sha256').update(`${credential.challenge.id}|${proof.toLowerCase()}`);
      return {
        id,
        fingerprint: fingerprint.digest('hex'),
        isPrivate: true,
        credential,
        method,
      };
    },

    challenge(quote, refusal, invalidParams) {
      const { route, request } = quote;
      const issued = acceptedMethods(methods, request.headers['accept-payment']).map((method) =>
        issueChallenge(
          {
            realm,
            method: method.name,
            request: chargeRequest(method, toAtomic(quote.amount, method.decimals)),
            expiresAt: now() + method.challengeLifetimeMs(route),
          },
          request,
          secrets,
        ),
      );
      const problem = paymentProblem(issued[0]?.id ?? '', toDecimal(quote.amount), refusal);
      return {
        status: 402,
        headers: {
          'content-type': 'application/problem+json',
          'cache-control': 'no-store',
          'www-authenticate': issued.map((challenge) => writeChallenge(challenge, route.endpoint.summary)),
        },
        body: JSON.stringify(invalidParams ? { ...problem, invalidParams } : problem),
      };
    },

    async verify(proof, quote) {
      const { credential, method } = proof;
      checkChallenge(credential, method, quote);
      const verdict = await method.verify(credential, quote.route);
      return {
        proof,
        network: method.network,
        asset: method.currency,
        payTo: method.recipient,
        amount: credential.amount,
        ...verdict,
      };
    },

    /** A charge moves exactly what its challenge asked for, so the amount is not looked at. */
    settle: ({ proof }, { route }) => proof.method.settle(proof.credential, route),

    async outcome(trace) {
      const { method: name }: { method: string } = JSON.parse(trace);
      const method = methods.find((each) => each.name === name);
      return method?.outcome(trace) ?? { state: 'unknown', reason: `the method ${name} is not configured any more` };
    },
  };
}

/** The MPP rail: the `Payment` HTTP authentication scheme (draft 01), intent `charge`. */
import type { Route } from '../../catalogue/types.ts';
import { SETTLES_UPFRONT } from '../../discovery/payment-info.ts';
import { asJsonObject } from '../../json.ts';
import type { Log } from '../../log.ts';
import { type Atomic, type Money, toAtomic } from '../../money.ts';
import { unknown } from '../../on-chain/settlement.ts';
import type { ExposureControl } from '../../payment/exposure/control.ts';
import type { Quote, Rail } from '../../payment/rail.ts';
import { Refusal } from '../../payment/refusal.ts';
import { afterResultFirst } from '../../payment/settle-upfront.ts';
import type { UpfrontReason } from '../../payment/upfront-reason.ts';
import { acceptedMethods } from './accept-payment.ts';
import { bindingMismatch, bodyDigest, isOurs, issueChallenge, type Secrets } from './challenge.ts';
import type { PaymentCredential } from './credential.ts';
import { createEvmMethod, type EvmOptions } from './evm.ts';
import { createHttpWire, type MppChallenge } from './http.ts';
import type { MppCredential } from './identify.ts';
import { createMcpWire } from './mcp.ts';
import type { ChargeMethod, Work } from './method.ts';
import { createTempoMethod, type TempoOptions } from './tempo.ts';
import { openTempoRefunds } from './tempo-refunds.ts';

export interface MppOptions {
  /** 32 bytes or more each. Challenges of an old one are honoured until they expire. */
  readonly secrets: Secrets;
  /** Who asks for the money, as wallets show it: the public host name. */
  readonly realm: string;
  /** How long a caller has to pay. Default: five minutes. */
  readonly challengeLifetimeMs?: number;
  readonly tempo?: TempoOptions;
  /** In the order of preference: the first that can be paid is charged. */
  readonly evm?: readonly EvmOptions[];
  /** Private key that gives back what was paid on Tempo. */
  readonly refundSigner?: string;
  readonly exposure: Pick<ExposureControl, 'upfront' | 'upfrontFor'>;
  readonly log?: Pick<Log, 'error'>;
  now?(): number;
}

/** One way to pay, as discovery documents list it: `amount` in atomic units of `currency`. */
export interface MppOffer {
  readonly intent: 'charge';
  readonly method: string;
  readonly amount: string;
  readonly currency: string;
  /** Present where the payment settles before the work. */
  readonly paymentFlow?: 'upfront';
  readonly description?: string;
}

export interface MppRail extends Rail<MppCredential, MppChallenge> {
  /** What a route can be paid with; `price` is its listed price unless given. */
  offers(route: Route, price?: Money): MppOffer[];
}

const LIFETIME_MS = 300_000;
/** How long after its challenge a payment may be shown that was sent before that expired. */
const SENT_LASTS_MS = 86_400_000;
const MIN_SECRET_BYTES = 32;

function checkOptions({ secrets, realm, tempo, evm = [] }: MppOptions): void {
  // `|` separates what the challenge's id is made of; quotes would end the header's parameter.
  if (!/^[\x20-\x7e]+$/.test(realm) || /["\\|]/.test(realm)) {
    throw new Error('the MPP realm must be printable ASCII without ", \\ and |: use the public host name');
  }
  if (secrets.some((secret) => Buffer.byteLength(secret) < MIN_SECRET_BYTES)) {
    throw new Error(`an MPP secret has fewer than ${MIN_SECRET_BYTES} bytes: make one with "openssl rand -hex 32"`);
  }
  if (!tempo && evm.length === 0) throw new Error('MPP needs at least one payment method: configure tempo or evm');
}

/** The `request` of a challenge, apart from when it settles; its members are in canonical order (JCS). */
const chargeRequest = ({ currency, details, recipient }: ChargeMethod, amount: Atomic) => ({
  amount: amount.toString(),
  currency,
  methodDetails: details,
  recipient,
});

/** When the payment settles, as `methodDetails` says it besides: its members come after a method's own (JCS). */
type Flow =
  | { readonly paymentFlow: 'upfront' }
  | { readonly paymentFlow: 'authorization'; readonly upfrontFor: Readonly<Record<string, unknown>> };

/** A challenge's request without what it says of the flow, and of what may be sent. */
function flowOf({ request }: PaymentCredential) {
  const { paymentFlow, supportedModes: _modes, upfrontFor: _for, ...details } = asJsonObject(request.methodDetails);
  return { isUpfront: paymentFlow === 'upfront', terms: JSON.stringify({ ...request, methodDetails: details }) };
}

export function openMppRail(options: MppOptions): MppRail {
  checkOptions(options);
  const {
    secrets,
    realm,
    exposure,
    challengeLifetimeMs = LIFETIME_MS,
    log,
    now = Date.now,
    tempo,
    refundSigner,
  } = options;
  const ownChain = options.tempo && createTempoMethod(options.tempo, { challengeLifetimeMs, log, now });
  const methods: ChargeMethod[] = [
    ...(ownChain ? [ownChain] : []),
    ...(options.evm ?? []).map((each) => createEvmMethod(each, { challengeLifetimeMs, now })),
  ];

  /** Why everybody who pays the route by this method settles first. */
  const upfrontBy = (method: ChargeMethod, quote: Quote): UpfrontReason | undefined =>
    method.upfront(quote) ?? exposure.upfront(quote.route, method.network, quote.amount);

  const flowFor = (method: ChargeMethod, quote: Quote, refusal: Refusal | undefined): Flow => {
    if (refusal?.upfront ?? upfrontBy(method, quote)) return { paymentFlow: 'upfront' };
    const { contracts, failedSettlements, unprovenAbove, unprovenTogetherAbove, unsettledAbove } = exposure.upfrontFor;
    const secondsLeftBelow = method.leastSecondsLeft(quote);
    return {
      paymentFlow: 'authorization',
      upfrontFor: {
        contracts,
        failedSettlements,
        ...(secondsLeftBelow === undefined ? {} : { secondsLeftBelow }),
        unprovenAbove,
        unprovenTogetherAbove,
        unsettledAbove,
      },
    };
  };

  /** `isWrong`: the request will be refused for what is wrong with it, so nobody should send money for it. */
  const requestFor = (method: ChargeMethod, quote: Quote, refusal: Refusal | undefined, isWrong: boolean): string => {
    const request = chargeRequest(method, toAtomic(quote.amount, method.decimals));
    const { paymentFlow, ...others } = flowFor(method, quote, refusal);
    const modes = isWrong ? method.unsentOnly : {};
    const methodDetails = { ...request.methodDetails, paymentFlow, ...modes, ...others };
    return Buffer.from(JSON.stringify({ ...request, methodDetails })).toString('base64url');
  };

  /** In order: is the challenge ours, is it open, is it for this request, does it still cost as much. */
  function checkChallenge(credential: PaymentCredential, method: ChargeMethod, quote: Quote): void {
    const { challenge, binding, amount, payload } = credential;
    if (!isOurs(challenge, secrets)) {
      throw new Refusal('invalid-challenge', 'the challenge was not issued here, or was changed: pay a fresh one');
    }
    // What was sent in time is looked for on its chain.
    const isSent = payload.type === 'hash';
    if (Date.parse(challenge.expires) + (isSent ? SENT_LASTS_MS : 0) <= now()) {
      throw new Refusal('payment-expired', `the challenge expired at ${challenge.expires}: pay a fresh one`);
    }
    const mismatch = bindingMismatch(binding, quote.request);
    if (mismatch !== undefined) {
      throw new Refusal('invalid-challenge', `the challenge belongs to another request: ${mismatch}`);
    }
    if (challenge.digest !== bodyDigest(quote.request.body)) {
      throw new Refusal('verification-failed', 'the body is not the one the challenge was issued for');
    }
    if (flowOf(credential).terms !== JSON.stringify(chargeRequest(method, amount))) {
      throw new Refusal('invalid-challenge', 'the gateway is paid otherwise by now: pay a fresh challenge');
    }
    // What was sent is the price that was asked for, whatever the call costs by now.
    if (isSent) return;
    const due = toAtomic(quote.amount, method.decimals);
    if (amount > due) {
      throw new Refusal(
        'invalid-challenge',
        `the challenge is for ${amount}, the price is only ${due} atomic units by now: pay a fresh challenge`,
      );
    }
    if (amount < due) {
      throw new Refusal('payment-insufficient', `the challenge is for ${amount}, the price is ${due} atomic units`);
    }
  }

  /** Undefined where its method, or the network that it was paid on, is charged no more: no other chain knows of it. */
  const methodOf = (recoveryQuery: string): ChargeMethod | undefined => {
    const { method, network } = paidBy(recoveryQuery);
    return methods.find((each) => each.name === method && (network === undefined || each.network === network));
  };

  const isOpen = (method: ChargeMethod): boolean => method.isOpen?.() ?? true;

  /** Of the networks that a method is paid on, the first. */
  const firstOfEach = (some: readonly ChargeMethod[]): ChargeMethod[] =>
    some.filter(({ name }, at) => some.findIndex((each) => each.name === name) === at);

  /** Losses, which are over some time, are no part of documents. */
  const isAlwaysUpfront = (method: ChargeMethod, route: Route): boolean =>
    method.upfront(route) !== undefined || exposure.upfront(route, method.network, route.price.min) === 'above';

  const inOrder = (work: Work, some: readonly ChargeMethod[]): ChargeMethod[] =>
    afterResultFirst(some, (method) => method.upfront(work) !== undefined);

  return {
    name: 'mpp',
    isPaidOnOwnChain: () => ownChain !== undefined && isOpen(ownChain),
    // What EIP-3009 paid is given back by the key of x402, which knows the same networks.
    refunds: tempo && refundSigner ? openTempoRefunds({ ...tempo, privateKey: refundSigner, now }) : undefined,
    http: createHttpWire(methods),
    mcp: createMcpWire(methods),

    offers: (route, price = route.listing.price) =>
      inOrder(route, firstOfEach([...methods.filter(isOpen), ...methods])).map((method) => ({
        intent: 'charge',
        method: method.name,
        amount: toAtomic(price, method.decimals).toString(),
        currency: method.currency,
        ...(isAlwaysUpfront(method, route) && { paymentFlow: 'upfront', description: SETTLES_UPFRONT }),
      })),

    challenge(quote, refusal, invalidParams) {
      const { request, amount } = quote;
      const isWorth = (method: ChargeMethod) => toAtomic(amount, method.decimals) >= method.leastPrice();
      const open = firstOfEach(methods.filter((method) => isOpen(method) && isWorth(method)));
      const issued = acceptedMethods(inOrder(quote, open), request.headers['accept-payment']).map((method) =>
        issueChallenge(
          {
            realm,
            method: method.name,
            request: requestFor(method, quote, refusal, invalidParams !== undefined),
            expiresAt: now() + method.challengeLifetimeMs(quote),
          },
          request,
          secrets,
        ),
      );
      return { id: issued[0]?.id ?? '', quote, refusal, invalidParams, issued };
    },

    async verify({ credential, method }, quote, settlesNow = false) {
      checkChallenge(credential, method, quote);
      const { network, currency: asset, recipient: payTo, decimals } = method;
      const { isUpfront: offeredUpfront } = flowOf(credential);
      const upfront = upfrontBy(method, quote) ?? (offeredUpfront ? 'offered' : undefined);
      const verdict = await method.verify(credential, quote, upfront !== undefined || settlesNow);
      return {
        network,
        asset,
        decimals,
        payTo,
        amount: credential.amount,
        scheme: 'charge',
        canSettleUpfront: true,
        offeredAt: Date.parse(credential.challenge.expires) - method.challengeLifetimeMs(quote),
        offeredUpfront,
        ...verdict,
        upfront:
          upfront === undefined || upfront === 'offered' || verdict.upfront === 'sent'
            ? (verdict.upfront ?? upfront)
            : upfront,
      };
    },

    async recover(recoveryQuery) {
      return methodOf(recoveryQuery)?.recover(recoveryQuery) ?? unknown(notConfigured(recoveryQuery));
    },

    async confirmations(recoveryQuery, transaction) {
      const method = methodOf(recoveryQuery);
      if (!method) throw new Error(notConfigured(recoveryQuery));
      return method.confirmations(transaction);
    },

    receipt: (recoveryQuery, { transaction, amount }, settledAt) => ({
      transaction,
      amount: amount.toString(),
      settledAt,
      details: { method: paidBy(recoveryQuery).method },
    }),
  };
}

const paidBy = (recoveryQuery: string) => JSON.parse(recoveryQuery) as { method: string; network?: string };

function notConfigured(recoveryQuery: string): string {
  const { method, network } = paidBy(recoveryQuery);
  return `the method ${method}${network === undefined ? '' : ` on ${network}`} is not configured any more`;
}

/** The x402 rail: protocol version 2 and 1, schemes `exact` and `upto`, on every payable network. */
import { atomicToDecimal, type Money, toAtomic, toDecimal } from '../../money.ts';
import { FacilitatorUnreachable } from '../facilitators/facilitator.ts';
import type { PayableNetwork, PayableNetworks } from '../networks.ts';
import {
  type Proof,
  type Quote,
  type Rail,
  type RawRequest,
  Refusal,
  type Settlement,
  type Verified,
} from '../rail.ts';
import { type Authorization, fingerprintOf, payloadOf, paymentId, readAuthorization } from '../x402/authorization.ts';
import { createChallenges, requirementsV1, settlesFirst } from '../x402/challenge.ts';
import { checkAccepted, checkAuthorization, endsTooSoon } from '../x402/checks.ts';
import { askChain, type Trace, traceOf } from '../x402/outcome.ts';
import {
  decodePayment,
  encodeHeader,
  networkName,
  type PaymentPayload,
  type Requirements,
  schemeOf,
} from '../x402/wire.ts';

export interface X402Proof extends Proof {
  readonly payment: PaymentPayload;
  readonly authorization: Authorization;
  readonly network: string;
}

export interface X402Options {
  readonly networks: PayableNetworks;
  /** Origin under which callers reach the gateway, without a trailing slash. */
  readonly publicUrl: string;
  now(): number;
}

export interface X402Rail extends Rail<X402Proof> {
  readonly name: 'x402';
  /** The entries of `accepts` at a price, for the discovery documents. */
  offers(route: Quote['route'], amount: Money): Requirements[];
}

/** With what a receipt tells besides, in dollars. */
type KeptTrace = Trace & { readonly quoted: string };

function proofHeader(request: RawRequest): string | undefined {
  const header = request.headers['payment-signature'] ?? request.headers['x-payment'];
  const value = Array.isArray(header) ? header[0] : header;
  return value?.trim() || undefined;
}

export function openX402Rail({ networks, publicUrl, now }: X402Options): X402Rail {
  const challenges = createChallenges(networks, publicUrl);

  const payableFor = (proof: X402Proof, { route }: Quote): PayableNetwork => {
    if (!route.networks.includes(proof.network)) {
      const offered = route.networks.map((id) => networks.find(id)?.caip2).filter((name) => name !== undefined);
      throw new Refusal(
        'verification-failed',
        `the payment is for ${networkName(proof.payment)}, this path is paid on ${offered.join(', ')}`,
      );
    }
    const network = networks.find(proof.network);
    if (!network)
      throw new Refusal('verification-failed', `${proof.network} cannot be paid at the moment: pick another`);
    return network;
  };

  const offerFor = (proof: X402Proof, quote: Quote, network: PayableNetwork): Requirements => {
    const scheme = schemeOf(proof.payment);
    const offered = challenges
      .offers(quote.route, quote.amount)
      .find((offer) => offer.network === network.caip2 && offer.scheme === scheme);
    if (!offered) throw new Refusal('verification-failed', `the scheme ${scheme} is not offered on ${network.caip2}`);
    return offered;
  };

  /** Requirements in the words of the payload's own version. */
  const inVersionOf = (payment: PaymentPayload, offer: Requirements, { route }: Quote): object =>
    payment.x402Version === 2
      ? offer
      : requirementsV1(offer, payment.network, {
          url: publicUrl + route.path,
          description: route.endpoint.summary,
        });

  /** What a facilitator takes: made anew from what was read, so that it sees nothing that was not checked here. */
  const forFacilitator = ({ payment, authorization }: X402Proof, offer: Requirements, { route }: Quote): object => {
    const payload = payloadOf(authorization);
    if (payment.x402Version === 1) {
      return { x402Version: 1, scheme: payment.scheme, network: payment.network, payload };
    }
    return { x402Version: 2, accepted: offer, payload, ...challenges.about(route) };
  };

  /** What a proof was verified against: it is settled against the same, whatever has become of the network since. */
  const verifiedWith = new WeakMap<X402Proof, { network: PayableNetwork; offer: Requirements }>();

  return {
    name: 'x402',
    offers: challenges.offers,

    read(request) {
      const header = proofHeader(request);
      if (header === undefined) return undefined;
      const payment = decodePayment(header);
      const authorization = readAuthorization(payment.payload);
      const network = networks.named(payment.x402Version, networkName(payment));
      if (!network) {
        throw new Refusal('verification-failed', `the network ${networkName(payment).slice(0, 60)} is not known here`);
      }
      return {
        id: paymentId(authorization, network.caip2, network.asset.address),
        fingerprint: fingerprintOf(authorization, payment.challengeId),
        isPrivate: payment.challengeId !== undefined,
        payment,
        authorization,
        network: network.id,
      };
    },

    challenge: challenges.challenge,

    async verify(proof, quote): Promise<Verified<X402Proof>> {
      const network = payableFor(proof, quote);
      const offer = offerFor(proof, quote, network);
      checkAccepted(proof.payment, offer);
      checkAuthorization(proof.authorization, offer, now());
      const tooSoon = endsTooSoon(proof.authorization, quote.route.deadlineMs, now());
      const verdict = await network.facilitator
        .verify(forFacilitator(proof, offer, quote), inVersionOf(proof.payment, offer, quote))
        .catch((error: unknown) => {
          if (!(error instanceof FacilitatorUnreachable)) throw error;
          throw new Refusal('verification-failed', 'the payment could not be checked at the moment: try again', {
            cause: error,
          });
        });
      if (!verdict.valid) throw new Refusal('verification-failed', `the payment was refused: ${verdict.reason}`);
      verifiedWith.set(proof, { network, offer });
      return {
        proof,
        network: network.id,
        asset: network.asset.address,
        payer: verdict.payer,
        payTo: network.payTo,
        amount: BigInt(offer.amount),
        settlesFirst: tooSoon || settlesFirst(quote.route, network),
        payerIsProven: true,
        trace: JSON.stringify({
          ...traceOf(proof, network, verdict.payer, now()),
          quoted: toDecimal(quote.amount),
        } satisfies KeptTrace),
      };
    },

    async settle({ proof, payer }, quote, amount): Promise<Settlement> {
      const verified = verifiedWith.get(proof);
      if (!verified) throw new Error('a payment is settled that was not verified');
      const { network, offer: quoted } = verified;
      const due = toAtomic(amount, network.asset.decimals).toString();
      const offer = quoted.scheme === 'upto' ? { ...quoted, amount: due } : quoted;
      const answer = await network.facilitator.settle(
        forFacilitator(proof, quoted, quote),
        inVersionOf(proof.payment, offer, quote),
      );
      if (answer.state !== 'settled') return answer;
      return {
        state: 'settled',
        receipt: {
          transaction: answer.transaction,
          amount: offer.amount,
          settledAt: now(),
          headers: receiptHeaders({
            x402Version: proof.payment.x402Version,
            networkName: networkName(proof.payment),
            transaction: answer.transaction,
            payer: answer.payer ?? payer,
            amount: offer.amount,
            quoted: toDecimal(quote.amount),
            charged: atomicToDecimal(BigInt(offer.amount), network.asset.decimals),
          }),
        },
      };
    },

    async outcome(text) {
      const trace: KeptTrace = JSON.parse(text);
      const network = networks.find(trace.network);
      if (!network?.rpcUrl) return { state: 'unknown', reason: `no RPC address is configured for ${trace.network}` };
      const found = await askChain(trace, network.rpcUrl, now());
      if (found.state === 'unknown') return found;
      if (found.state === 'unsettled') return { state: 'refused', reason: found.reason };
      const { transaction } = found;
      const amount = found.amount.toString();
      const charged = atomicToDecimal(found.amount, network.asset.decimals);
      const headers = receiptHeaders({ ...trace, transaction, amount, charged });
      return { state: 'settled', receipt: { transaction, amount, settledAt: now(), headers } };
    },
  };
}

/** The settlement in the header of the version that was paid with, and in decimals what was quoted and charged. */
function receiptHeaders(settled: {
  readonly x402Version: 1 | 2;
  readonly networkName: string;
  readonly transaction: string;
  readonly payer: string;
  /** Atomic units. */
  readonly amount: string;
  readonly quoted: string;
  readonly charged: string;
}): Record<string, string> {
  const { x402Version, networkName: network, transaction, payer, amount, quoted, charged } = settled;
  const receipt = encodeHeader({ success: true, transaction, network, payer, amount });
  return {
    [x402Version === 2 ? 'payment-response' : 'x-payment-response']: receipt,
    'turnpike-quoted': quoted,
    'turnpike-charged': charged,
  };
}

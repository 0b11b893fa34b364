/** Who looks through a payment and settles it: a facilitator, or an account of the gateway's own that drives an escrow. */
import type { Atomic } from '../../money.ts';
import type { Settlement } from '../../on-chain/settlement.ts';
import type { AuthCaptureAuthorization } from '../../payment/authorizations/auth-capture.ts';
import type { EscrowOperator } from '../../payment/escrow/escrow.ts';
import type { Hold } from '../../payment/hold.ts';
import type { PayableNetwork } from '../../payment/networks.ts';
import type { Quote } from '../../payment/rail.ts';
import type { Verdict } from '../../payment/verdict.ts';
import { type Challenges, requirementsV1 } from './challenge.ts';
import type { X402Credential } from './credential.ts';
import { approvalFor, sponsoredExtension } from './gas-sponsoring.ts';
import { HALF_SETTLEMENTS_WITH_APPROVAL, SETTLEMENTS_OF_A_HOLD } from './offers.ts';
import type { PaymentPayload, Requirements } from './wire.ts';

export interface Settler {
  /** Moves nothing. Throws FacilitatorUnreachable. */
  verify(): Promise<Verdict>;
  /** So many atomic units, once. Never throws. */
  settle(charged: Atomic): Promise<Settlement>;
  /** As much gas as so many halves of a settlement. */
  readonly halfSettlements: bigint;
  /** Where the money is locked before the work. */
  readonly hold?: Hold;
}

export const byEscrow = (operator: EscrowOperator, { info, signature }: AuthCaptureAuthorization): Settler => ({
  verify: () => operator.verify(info, signature),
  // The escrow takes no nothing: work of no worth costs one unit.
  settle: (charged) => operator.capture(info, charged || 1n),
  halfSettlements: 2n * SETTLEMENTS_OF_A_HOLD,
  hold: { lock: () => operator.lock(info, signature), release: () => operator.release(info) },
});

interface Facilitated {
  readonly credential: X402Credential;
  readonly offer: Requirements;
  readonly quote: Quote;
  readonly network: PayableNetwork;
}

/** By the facilitator of the network that the payment is for. */
export function openFacilitated(
  challenges: Pick<Challenges, 'about'>,
  publicUrl: string,
): (facilitated: Facilitated) => Settler {
  /** Requirements in the words of the payment's own version. */
  const inVersionOf = (payment: PaymentPayload, offer: Requirements, { route }: Quote): object =>
    payment.x402Version === 2
      ? offer
      : requirementsV1(offer, payment.network, { url: publicUrl + route.path, description: route.endpoint.summary });

  /** Made anew from what was read, so that a facilitator sees nothing that was not checked here. */
  function payloadOf({ credential: { payment, authorization }, offer, quote, network }: Facilitated): object {
    const { payload } = authorization;
    if (payment.x402Version === 1) {
      return { x402Version: 1, scheme: payment.scheme, network: payment.network, payload };
    }
    const { resource, extensions } = challenges.about(quote.route);
    const approval = approvalFor(authorization, network);
    const withApproval = approval ? { ...extensions, ...sponsoredExtension(approval) } : extensions;
    return { x402Version: 2, accepted: offer, payload, resource, extensions: withApproval };
  }

  return (facilitated) => {
    const { credential, offer, quote, network } = facilitated;
    const { payment, authorization } = credential;
    const { facilitator } = network;
    const payload = payloadOf(facilitated);
    return {
      verify: () => facilitator.verify(payload, inVersionOf(payment, offer, quote)),
      async settle(charged) {
        const requirements = inVersionOf(payment, { ...offer, amount: charged.toString() }, quote);
        const settlement = await facilitator.settle(payload, requirements);
        return settlement.state === 'settled' ? { ...settlement, amount: charged } : settlement;
      },
      halfSettlements: approvalFor(authorization, network) ? HALF_SETTLEMENTS_WITH_APPROVAL : 2n,
    };
  };
}

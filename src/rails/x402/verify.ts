/** Whether a payment is for this price, on the terms of a challenge, and good. */

import { type Atomic, toAtomic, toDecimal } from '../../money.ts';
import { sameAddress } from '../../on-chain/address.ts';
import { type AuthCaptureAuthorization, isHold } from '../../payment/authorizations/auth-capture.ts';
import type { Terms } from '../../payment/authorizations/authorization.ts';
import { type ChannelAuthorization, isDrawn } from '../../payment/authorizations/batch-settlement.ts';
import { demandBlockhash, demandDestination, isSolana } from '../../payment/authorizations/solana.ts';
import { isCaptureDeadline } from '../../payment/escrow/deadline.ts';
import { asked } from '../../payment/facilitators/asked.ts';
import type { PayableNetwork } from '../../payment/networks.ts';
import type { Quote, Rail, VerifiedPayment } from '../../payment/rail.ts';
import { Refusal } from '../../payment/refusal.ts';
import { authorizationSeconds, demandOutliving } from '../../payment/settle-upfront.ts';
import type { RailParts } from '../definition.ts';
import type { Challenges } from './challenge.ts';
import type { ChallengeIds } from './challenge-id.ts';
import type { ChannelPayments } from './channel.ts';
import type { X402Credential } from './credential.ts';
import { openHolders } from './holders.ts';
import type { Offers } from './offers.ts';
import { seenSince } from './recovery.ts';
import { byEscrow, openFacilitated } from './settlers.ts';
import type { ReceiptSigner } from './signed-receipts.ts';
import { checkAccepted, networkName, type PaymentPayload, type Requirements, schemeOf } from './wire.ts';

export interface VerificationParts extends Pick<RailParts<unknown>, 'networks' | 'publicUrl' | 'now'> {
  readonly offers: Offers;
  readonly challenges: Challenges;
  readonly ids: ChallengeIds;
  readonly channelPayments: ChannelPayments;
  /** Undefined: receipts are not signed. */
  readonly receiptSigner: ReceiptSigner | undefined;
  readonly receipt: Rail<X402Credential>['receipt'];
}

export function openVerification(parts: VerificationParts): Rail<X402Credential>['verify'] {
  const { networks, offers, challenges, ids, channelPayments, receiptSigner, publicUrl, receipt, now } = parts;
  const facilitated = openFacilitated(challenges, publicUrl);
  const holderOf = openHolders(now);

  const payableFor = ({ network: id, payment }: X402Credential, { networks: offeredOn }: Quote): PayableNetwork => {
    if (!offeredOn.includes(id)) {
      const offered = offeredOn.map((each) => networks.find(each)?.caip2).filter((name) => name !== undefined);
      throw new Refusal(
        'verification-failed',
        `the payment is for ${networkName(payment)}, this request is paid on ${offered.join(', ')}`,
      );
    }
    const network = networks.find(id);
    if (!network) throw new Refusal('verification-failed', `${id} cannot be paid at the moment: pick another`);
    return network;
  };

  const offerFor = (payment: PaymentPayload, quote: Quote, network: PayableNetwork): Requirements => {
    const scheme = schemeOf(payment);
    // A hold may have been offered to this payer alone, or before losses were over.
    const offered = offers
      .answerable(quote, scheme === 'auth-capture')
      .find((offer) => offer.network === network.caip2 && offer.scheme === scheme);
    if (!offered) throw new Refusal('verification-failed', `the scheme ${scheme} is not offered on ${network.caip2}`);
    return offered;
  };

  /** What its payer was told of the hold has to be what a challenge said. */
  function checkHold({ info }: AuthCaptureAuthorization, { hold }: PayableNetwork, { deadlineMs }: Quote): void {
    const isOurs = hold !== undefined && sameAddress(info.operator, String(hold.extra.captureAuthorizer));
    if (isOurs && isCaptureDeadline(info.authorizationExpiry, { now: now(), deadlineMs })) return;
    throw new Refusal(
      'invalid-challenge',
      'the hold is not on the terms of a challenge that is still good: ask for a new one',
    );
  }

  /** What is kept to ask about a payment later, and to write its receipt. */
  const recoveryQuery = (
    { payment, authorization, network }: X402Credential,
    quote: Quote,
    terms: Terms,
    others: object,
  ): string =>
    JSON.stringify({
      x402Version: payment.x402Version,
      network,
      networkName: networkName(payment),
      payer: authorization.payer,
      since: seenSince(now()),
      ...authorization.recoveryQuery(terms),
      ...others,
      quoted: toDecimal(quote.amount),
      ...(receiptSigner && payment.x402Version === 2 && { resourceUrl: publicUrl + quote.route.path }),
    });

  /**
   * When the challenge was given: now, for all that is known, where the payment names one that is not ours. Clients of
   * version 1 name none: what they sign lasts from then on as long as it asked.
   */
  const offeredAt = ({ payment, authorization: { endsAt } }: X402Credential, quote: Quote, network: PayableNetwork) =>
    payment.challengeId === undefined
      ? (endsAt ?? now()) - authorizationSeconds(quote, network) * 1000
      : (ids.givenAt(payment.challengeId) ?? now());

  /** A payment drawn from a channel: the gateway itself checks it, and nothing moves but a deposit. */
  async function verifyDrawn(
    credential: X402Credential & { readonly authorization: ChannelAuthorization },
    quote: Quote,
    network: PayableNetwork,
    terms: Terms,
  ): Promise<VerifiedPayment> {
    const { authorization } = credential;
    const { amount, asset: address, payTo } = terms;
    const { decimals } = network.asset;
    const leastPrice = networks.leastPrice(network.id);
    const drawn = await channelPayments.verify({ authorization, network, amount, leastPrice });
    const isFixed = !quote.route.price.actual;
    const query = recoveryQuery(credential, quote, terms, { ...drawn.query, isFixed });
    return {
      network: network.id,
      asset: address,
      decimals,
      payer: authorization.payer,
      // Anybody can open a channel in another's name.
      signer: authorization.config.payerAuthorizer,
      // A deposit is signed by the payer itself, who could name another key for each.
      ...(!authorization.deposit && { caller: authorization.config.payerAuthorizer }),
      holder: { isContract: false, balance: async () => 0n },
      payTo,
      amount,
      scheme: authorization.scheme,
      upfront: 'held',
      offeredAt: offeredAt(credential, quote, network),
      canSettleUpfront: true,
      payerIsProven: true,
      isCovered: true,
      hold: drawn.hold((transfer) => receipt(query, transfer, now())),
      recoveryQuery: query,
      async settle(due) {
        const charged = isFixed ? amount : toAtomic(due, decimals);
        drawn.charged(charged);
        return { state: 'settled', transaction: drawn.transaction(), amount: charged };
      },
    };
  }

  return async function verify(credential, quote, settlesNow = false): Promise<VerifiedPayment> {
    const { payment, authorization } = credential;
    const network = payableFor(credential, quote);
    const offer = offerFor(payment, quote, network);
    checkAccepted(payment, offer);
    if (authorization.scheme !== offer.scheme) {
      throw new Refusal(
        'verification-failed',
        'the scheme upto is paid with a Permit2 permit, exact with an EIP-3009 authorization or a Solana transaction, batch-settlement with a voucher',
      );
    }
    const held = isHold(authorization) ? authorization : undefined;
    if (held) checkHold(held, network, quote);
    const { asset, caip2: chain, payTo } = network;
    const amount: Atomic = BigInt(offer.amount);
    const terms = { chain, asset: asset.address, payTo, amount };
    authorization.check(terms, now());
    if (isSolana(authorization)) await demandDestination(authorization, terms);
    if (isDrawn(authorization)) return await verifyDrawn({ ...credential, authorization }, quote, network, terms);
    const { endsAt, payer, scheme } = authorization;
    // Clients that know the fields of `extra` alone which their scheme has repeat nothing of it, whatever was offered.
    const offeredUpfront = (payment.x402Version === 2 && payment.accepted.upfront) || undefined;
    const chosen = offeredUpfront && scheme === 'exact' ? 'offered' : undefined;
    const upfront = held ? 'held' : (offers.upfront(quote, network) ?? chosen);
    const { deadlineMs } = quote;
    const operator = held && (await network.hold?.operator());
    const outlivesWork = upfront === undefined && !settlesNow;
    if (outlivesWork && endsAt !== undefined) demandOutliving({ goodForMs: endsAt - now(), deadlineMs });
    if (isSolana(authorization) && network.rpcUrl !== undefined) {
      await demandBlockhash(network.rpcUrl, authorization, outlivesWork ? deadlineMs : 0);
    }
    const settler = held && operator ? byEscrow(operator, held) : facilitated({ credential, offer, quote, network });
    const { hold, halfSettlements } = settler;
    const [verdict, holder] = await Promise.all([
      asked('the payment', settler.verify()),
      holderOf(authorization, network),
    ]);
    if (!verdict.valid) throw new Refusal('verification-failed', `the payment was refused: ${verdict.reason}`);
    const isFinal = upfront !== undefined && upfront !== 'offered';
    let charged = amount;
    return {
      network: network.id,
      chain,
      asset: asset.address,
      decimals: asset.decimals,
      payer,
      holder,
      payTo,
      amount,
      scheme,
      upfront: verdict.deploys && !isFinal ? 'undeployed' : upfront,
      offeredAt: offeredAt(credential, quote, network),
      offeredUpfront,
      canSettleUpfront: scheme !== 'upto',
      payerIsProven: true,
      hold,
      isPaidFor: () => charged === amount || charged * 2n >= halfSettlements * networks.leastPrice(network.id),
      recoveryQuery: recoveryQuery(credential, quote, terms, held ? { isFixed: !quote.route.price.actual } : {}),
      async settle(due) {
        if (offer.scheme !== 'exact') charged = toAtomic(due, asset.decimals);
        return settler.settle(charged);
      },
    };
  };
}

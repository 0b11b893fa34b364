/** The x402 rail: protocol version 2 and 1, schemes `exact` and `upto`, on every payable network. */

import { type Atomic, atomicToDecimal, toAtomic, toDecimal } from '../../money.ts';
import { sameAddress } from '../../on-chain/address.ts';
import { heldForUs } from '../../on-chain/settlement.ts';
import { type AuthCaptureAuthorization, isHold } from '../../payment/authorizations/auth-capture.ts';
import type { Terms } from '../../payment/authorizations/authorization.ts';
import { type ChannelAuthorization, isDrawn } from '../../payment/authorizations/batch-settlement.ts';
import { demandBlockhash, demandDestination, isSolana } from '../../payment/authorizations/solana.ts';
import { evmConfirmations, solanaConfirmations } from '../../payment/chains/confirmations.ts';
import { createRpc } from '../../payment/chains/rpc.ts';
import { isCaptureDeadline } from '../../payment/escrow/deadline.ts';
import type { ExposureControl } from '../../payment/exposure/control.ts';
import { asked } from '../../payment/facilitators/asked.ts';
import type { PayableNetwork } from '../../payment/networks.ts';
import type { Quote, Rail, VerifiedPayment } from '../../payment/rail.ts';
import { Refusal } from '../../payment/refusal.ts';
import { authorizationSeconds, demandOutliving } from '../../payment/settle-upfront.ts';
import type { RailParts } from '../definition.ts';
import { createChallenges } from './challenge.ts';
import { openChallengeIds } from './challenge-id.ts';
import { channelReceipt, openChannelPayments } from './channel.ts';
import { openChannelRefunds } from './channel-refunds.ts';
import type { X402Credential } from './credential.ts';
import { openHolders } from './holders.ts';
import { createHttpWire } from './http.ts';
import { createMcpWire } from './mcp.ts';
import { openOffers } from './offers.ts';
import { openRecovery, type RecoveryQuery, seenSince } from './recovery.ts';
import { openRefunds, type RefundSigners } from './refunds.ts';
import { shownPayer } from './settlement-response.ts';
import { byEscrow, openFacilitated } from './settlers.ts';
import type { ReceiptSigner } from './signed-receipts.ts';
import { checkAccepted, networkName, type PaymentPayload, type Requirements, schemeOf } from './wire.ts';

/** `hasDeposits` left out: there are none; `refundWindowMs`: nobody may ask for what is owed. */
interface X402Options
  extends Pick<RailParts<unknown>, 'networks' | 'channels' | 'publicUrl' | 'challengeKey' | 'now'>,
    Partial<Pick<RailParts<unknown>, 'hasDeposits' | 'refundWindowMs'>> {
  readonly exposure: Pick<ExposureControl, 'upfront' | 'upfrontFor' | 'version' | 'policy'>;
  readonly refundSigners?: RefundSigners | undefined;
  /** Undefined: receipts are not signed. */
  readonly receiptSigner?: ReceiptSigner | undefined;
}

export interface X402Rail extends Rail<X402Credential> {
  readonly receiptSigner: ReceiptSigner | undefined;
}

export function openX402Rail(options: X402Options): X402Rail {
  const { networks, exposure, publicUrl, refundSigners, refundWindowMs, receiptSigner, now } = options;
  const ids = openChallengeIds(options.challengeKey);
  const offers = openOffers(networks, exposure, now);
  const challenges = createChallenges(networks, offers, { publicUrl, refundWindowMs, ids }, now);
  const facilitated = openFacilitated(challenges, publicUrl);
  const holderOf = openHolders(now);
  const findSettlement = openRecovery(now);
  const channelPayments = openChannelPayments(options.channels, now);

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
      hold: drawn.hold((transfer) => rail.receipt(query, transfer, now())),
      recoveryQuery: query,
      async settle(due) {
        const charged = isFixed ? amount : toAtomic(due, decimals);
        drawn.charged(charged);
        return { state: 'settled', transaction: drawn.transaction(), amount: charged };
      },
    };
  }

  const rail: X402Rail = {
    name: 'x402',
    receiptSigner,
    http: createHttpWire(networks, challenges),
    mcp: createMcpWire(networks, challenges),
    ownPath:
      exposure.policy.channels || options.hasDeposits
        ? openChannelRefunds({ networks, channels: options.channels, publicUrl, now })
        : undefined,
    challenge: challenges.challenge,
    refunds: refundSigners && openRefunds({ networks, signers: refundSigners, findSettlement, publicUrl, now }),

    async verify(credential, quote, settlesNow = false): Promise<VerifiedPayment> {
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
    },

    async recover(text) {
      const query: RecoveryQuery = JSON.parse(text);
      // Its chain can be asked also while nobody settles there.
      return findSettlement(query, networks.configured(query.network)?.rpcUrl);
    },

    async endHold(text, isDone) {
      const query: RecoveryQuery = JSON.parse(text);
      if (query.kind === 'batch-settlement') {
        if (!isDone || !query.isFixed) return undefined;
        return { state: 'settled', transaction: query.channel, amount: BigInt(query.amount) };
      }
      const operator = await networks
        .find(query.network)
        ?.hold?.operator()
        .catch(() => undefined);
      if (query.kind !== 'auth-capture' || !operator) return heldForUs('nobody here drives the escrow at the moment');
      // What is due for work by use is known to the request alone, and that is over.
      return isDone && query.isFixed
        ? operator.capture(query.info, BigInt(query.info.maxAmount))
        : operator.release(query.info);
    },

    async confirmations(text, transaction) {
      const query: RecoveryQuery = JSON.parse(text);
      const { network: id } = query;
      if (query.kind === 'batch-settlement') return channelPayments.depth(query, networks.find(id));
      const network = networks.configured(id);
      if (!network?.rpcUrl) throw new Error(`no RPC address is configured for ${id}`);
      const count = network.family === 'evm' ? evmConfirmations : solanaConfirmations;
      return count(createRpc(network.rpcUrl), transaction);
    },

    receipt(text, transfer, settledAt) {
      const query: RecoveryQuery = JSON.parse(text);
      const { transaction, amount } = transfer;
      const { x402Version, network, networkName: name, payer, quoted, resourceUrl } = query;
      const drawn = query.kind === 'batch-settlement' ? channelReceipt(query, transfer) : undefined;
      const charged = atomicToDecimal(amount, networks.decimals(network));
      const sold = { network: name, payer: shownPayer(payer), transaction, settledAt };
      const signed = resourceUrl === undefined ? undefined : receiptSigner?.sign({ ...sold, resourceUrl });
      const details = {
        version: String(x402Version),
        network: name,
        payer,
        quoted,
        charged,
        ...(signed && { signed }),
        ...drawn?.details,
      };
      return { transaction, amount: amount.toString(), settledAt, details, ...(drawn && { channel: drawn.channel }) };
    },
  };
  return rail;
}

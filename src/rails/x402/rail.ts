/** The x402 rail: protocol version 2 and 1, schemes `exact` and `upto`, on every payable network. */

import { atomicToDecimal } from '../../money.ts';
import { heldForUs, type Transfer } from '../../on-chain/settlement.ts';
import { evmConfirmations, solanaConfirmations } from '../../payment/chains/confirmations.ts';
import { createRpc } from '../../payment/chains/rpc.ts';
import type { ExposureControl } from '../../payment/exposure/control.ts';
import type { Rail } from '../../payment/rail.ts';
import type { Receipt } from '../../store/store.ts';
import type { RailParts } from '../definition.ts';
import { createChallenges } from './challenge.ts';
import { openChallengeIds } from './challenge-id.ts';
import { channelReceipt, openChannelPayments } from './channel.ts';
import { openChannelRefunds } from './channel-refunds.ts';
import type { X402Credential } from './credential.ts';
import { createHttpWire } from './http.ts';
import { createMcpWire } from './mcp.ts';
import { openOffers } from './offers.ts';
import { openRecovery, type RecoveryQuery } from './recovery.ts';
import { openRefunds, type RefundSigners } from './refunds.ts';
import { shownPayer } from './settlement-response.ts';
import type { ReceiptSigner } from './signed-receipts.ts';
import { openVerification } from './verify.ts';

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
  const findSettlement = openRecovery(now);
  const channelPayments = openChannelPayments(options.channels, now);

  function receipt(text: string, transfer: Transfer, settledAt: number): Receipt {
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
  }

  const verify = openVerification({
    networks,
    offers,
    challenges,
    ids,
    channelPayments,
    receiptSigner,
    publicUrl,
    receipt,
    now,
  });

  return {
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

    verify,

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

    receipt,
  };
}

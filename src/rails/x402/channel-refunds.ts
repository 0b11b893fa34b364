/**
 * Deposits given back on request: `GET /v1/channels` is what a payer names to its client's `refund`. It asks without a
 * payment first and reads the offers, then sends a voucher of what its calls have cost. Source: x402 specification,
 * "batch-settlement" on EVM, "Refund"; @x402/evm 2.27.0.
 */

import { Problem } from '../../errors.ts';
import type { Settlement } from '../../on-chain/settlement.ts';
import { CHANNELS_PATH } from '../../paths.ts';
import { type ChannelAuthorization, isDrawn } from '../../payment/authorizations/batch-settlement.ts';
import type { ChannelOperator } from '../../payment/channels/operator.ts';
import { inProgress, settlementPending } from '../../payment/conflicts.ts';
import { asked } from '../../payment/facilitators/asked.ts';
import { FacilitatorUnreachable } from '../../payment/facilitators/facilitator.ts';
import type { PayableNetwork, PayableNetworks } from '../../payment/networks.ts';
import type { HttpAnswer, OwnPath, PayerGate } from '../../payment/rail.ts';
import { Refusal } from '../../payment/refusal.ts';
import type { GatewayRequest } from '../../request/request.ts';
import type { Channel, ChannelState, ChannelStore } from '../../store/channels/channel-store.ts';
import { busy, channelState, chargedOf, demandSigned, mismatch, NO_BALANCE } from './channel.ts';
import { readCredential, type X402Credential } from './credential.ts';
import { paymentHeader } from './http.ts';
import { channelRequirements, corrected } from './offers.ts';
import { requiredAnswer } from './required.ts';
import { shownPayer } from './settlement-response.ts';
import { decodePayment, encodeHeader, networkName, type Requirements } from './wire.ts';

/** Longer than the chain takes, so that nothing is drawn from it meanwhile; an instance that dies lets go of it by this. */
const HELD_MS = 120_000;
/** What of that the transaction may take. */
const CHAIN_MS = 60_000;

interface RefundParts {
  readonly networks: PayableNetworks;
  readonly channels: ChannelStore;
  readonly publicUrl: string;
  now(): number;
}

interface Given extends ChannelState {
  readonly charged: string;
  readonly transaction: string;
  /** Atomic units. */
  readonly amount: bigint;
}

/** Where channels are on offer. */
const offersOf = (networks: PayableNetworks, wanted: string | null): Requirements[] =>
  networks
    .all()
    .filter(({ id, caip2 }) => wanted === null || wanted === id || wanted === caip2)
    .flatMap((network) => channelRequirements(network, 0n, 0n) ?? []);

const nothingLeft = ({ caip2 }: PayableNetwork): Refusal =>
  new Refusal('verification-failed', 'nothing is left of the deposit', {
    correction: { code: NO_BALANCE, network: caip2, extra: {} },
  });

export function openChannelRefunds({ networks, channels, publicUrl, now }: RefundParts): OwnPath {
  function ask(request: GatewayRequest, refusal?: Refusal): HttpAnswer {
    const wanted = new URLSearchParams(request.query).get('network');
    const { correction } = refusal ?? {};
    const offers = offersOf(networks, wanted).map((offer) => (correction ? corrected(offer, correction) : offer));
    const detail = refusal?.message ?? "What is left of a channel's deposit: send a voucher of the type refund";
    const required = {
      x402Version: 2,
      error: correction?.code ?? detail,
      resource: {
        url: publicUrl + CHANNELS_PATH,
        description: 'Gives back what is left of a deposit',
        mimeType: 'application/json',
      },
      accepts: offers,
    };
    return requiredAnswer('A voucher is required', detail, required);
  }

  /** Throws Refusal. */
  async function read(request: GatewayRequest, header: string) {
    const credential = readCredential(decodePayment(header), networks, request);
    const { authorization: refund } = credential;
    if (!isDrawn(refund) || refund.type !== 'refund') {
      throw new Refusal('verification-failed', 'this path takes vouchers of the type refund');
    }
    const network = networks.find(credential.network);
    if (!network) throw new Refusal('verification-failed', 'channels are not offered there at the moment');
    const { config, channel } = refund;
    // What was sold from is given back, whoever is paid by now, and in whatever token.
    const isKnown = (await channels.find(channel)) !== undefined;
    const [asset, payTo] = isKnown ? [config.token, config.receiver] : [network.asset.address, network.payTo];
    refund.check({ chain: network.caip2, asset, payTo, amount: 0n }, now());
    const operator = await demandSigned(refund, network);
    return { credential, refund, network, operator };
  }

  /** How the channel stands, and what is left of it. Throws Refusal. */
  function leftOf(refund: ChannelAuthorization, network: PayableNetwork, kept: Channel, state: ChannelState): bigint {
    const charged = chargedOf(kept, state);
    if (refund.voucher.max !== charged) throw mismatch(refund.channel, state, kept, network.caip2);
    const left = BigInt(state.balance) - charged;
    if (left <= 0n || refund.refund === 0n) throw nothingLeft(network);
    if (refund.refund === undefined || refund.refund >= left) return left;
    const least = networks.leastPrice(network.id);
    if (refund.refund >= least) return refund.refund;
    throw new Refusal(
      'verification-failed',
      `${refund.refund} atomic units are not worth a transaction: ask for ${least} at least, or for all ${left} that are left`,
    );
  }

  /** What the chain says, and is kept: a channel that holds nothing is nobody's. Throws Refusal. */
  async function adopted(
    { channel, config, voucher: { max } }: ChannelAuthorization,
    network: PayableNetwork,
    operator: ChannelOperator,
  ): Promise<void> {
    const state = await asked('the channel', operator.read(channel));
    if (BigInt(state.balance) === 0n && !(await channels.find(channel))) throw nothingLeft(network);
    const facts = { id: channel, network: network.id, payer: config.payer, config: JSON.stringify(config) };
    // Who has no record of the channel takes its payer's word for what its calls have cost, but for what was never there.
    const isOwed = max > BigInt(state.totalClaimed) && max <= BigInt(state.balance);
    await channels.adopt(facts, state, now(), isOwed ? max.toString() : undefined);
    await channels.sync(channel, state, now());
  }

  async function giveBack(
    { refund, network, operator }: { refund: ChannelAuthorization; network: PayableNetwork; operator: ChannelOperator },
    gate: PayerGate,
  ): Promise<Given> {
    const { channel, config } = refund;
    await adopted(refund, network, operator);
    const heldUntil = now() + HELD_MS;
    const [kept] = await channels.take([channel], 'refund', heldUntil, now());
    if (!kept) {
      throw busy(network.caip2, 'a call draws from this channel: ask again after it');
    }
    let settled: Settlement | undefined;
    try {
      const found = await asked('the channel', operator.read(channel));
      // An earlier refund is on its way, or a node has not seen it yet.
      if (BigInt(found.refundNonce) < BigInt(kept.refundNonce)) throw settlementPending();
      const amount = leftOf(refund, network, kept, found);
      const charged = chargedOf(kept, found);
      const { max, signature } = kept.voucher ?? { max: charged.toString(), signature: refund.voucher.signature };
      const due = charged - BigInt(found.totalClaimed);
      // Who slept here may have been taken for dead, and the channel drawn from since.
      if (now() > heldUntil - CHAIN_MS) throw inProgress();
      const left: ChannelState = {
        ...found,
        balance: (BigInt(found.balance) - amount).toString(),
        refundNonce: (BigInt(found.refundNonce) + 1n).toString(),
      };
      // Whatever becomes of this process and of the transaction: no call counts on what may be given back from here on.
      await channels.sync(channel, left, now());
      settled = await operator.refund({ config, max: BigInt(max), signature, charged, due }, amount);
      if (settled.state !== 'refused') gate.returned();
      if (settled.state === 'unknown') throw settlementPending();
      if (settled.state === 'refused') {
        await channels.sync(channel, found, now(), true);
        throw new Refusal('verification-failed', `the deposit was not given back: ${settled.reason}`);
      }
      const state = await afterwards(operator, channel, { ...left, totalClaimed: charged.toString() });
      return { ...state, charged: charged.toString(), transaction: settled.transaction, amount };
    } finally {
      // What nobody knows the end of keeps the channel until the chain has had its time.
      if (settled?.state !== 'unknown') await channels.letGo([channel], 'refund', heldUntil);
    }
  }

  /** What the chain says once the refund is in it, and what has to be so where the node does not say it yet. */
  async function afterwards(operator: ChannelOperator, channel: string, expected: ChannelState): Promise<ChannelState> {
    const state = await operator.read(channel).catch((error: unknown) => {
      if (!(error instanceof FacilitatorUnreachable)) throw error;
    });
    if (!state || BigInt(state.refundNonce) < BigInt(expected.refundNonce)) return expected;
    await channels.sync(channel, state, now());
    return state;
  }

  const answer = ({ payment }: X402Credential, refund: ChannelAuthorization, given: Given): HttpAnswer => {
    const { transaction, amount, charged, ...state } = given;
    const response = {
      success: true,
      transaction,
      network: networkName(payment),
      payer: shownPayer(refund.payer),
      amount: amount.toString(),
      extra: { channelState: channelState(refund.channel, state, charged) },
    };
    return {
      status: 200,
      headers: {
        'content-type': 'application/json',
        'cache-control': 'no-store',
        'payment-response': encodeHeader(response),
      },
      body: JSON.stringify(response),
    };
  };

  return {
    path: CHANNELS_PATH,
    async answer(request, gate) {
      if (offersOf(networks, null).length === 0) throw new Problem('unknown_path', 'No channels are offered here');
      const header = paymentHeader(request);
      if (header === undefined) {
        gate.asks();
        return ask(request);
      }
      try {
        gate.arrives();
        const found = await read(request, header);
        gate.returns(found.refund.config.payerAuthorizer);
        return answer(found.credential, found.refund, await giveBack(found, gate));
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        gate.refused();
        return ask(request, error);
      }
    },
  };
}

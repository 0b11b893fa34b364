/** The facilitator (x402, "Facilitator interface"), which moves money on the chain and does not always say so. */
import { setTimeout as delay } from 'node:timers/promises';
import { asJsonObject } from '../../src/json.ts';
import { eip3009Identity } from '../../src/payment/authorizations/eip3009.ts';
import type { Chain, Signed } from './chain.ts';
import { type Exchange, gone, loseConnection, sendJson } from './exchange.ts';
import type { Faults, SettlingFault } from './faults.ts';
import type { Timeline } from './timeline.ts';

export interface Facilitator {
  answer(exchange: Exchange): Promise<void>;
  /** Resolves once nothing is left that it means to settle later. */
  idle(): Promise<void>;
}

interface Asked {
  readonly signed: Signed;
  readonly amount: bigint;
  /** As the store names the payment. */
  readonly payment: string;
  readonly network: string;
}

const lower = (value: unknown): string => String(value).toLowerCase();

/** As the store names it: what the chain remembers of it. */
export const paymentOf = (chainName: string, asset: string, { kind, payer, nonce }: Signed): string =>
  kind === 'eip3009' ? eip3009Identity(chainName, asset, payer, nonce) : `permit2:${chainName}:${payer}:${nonce}`;

function readAsked(chainName: string, chain: Chain, body: string): Asked {
  const { paymentPayload, paymentRequirements } = JSON.parse(body);
  const { authorization, permit2Authorization: permit } = asJsonObject(paymentPayload.payload);
  const { from, to, value, nonce, validBefore } = asJsonObject(authorization);
  const { permitted, deadline, witness, ...permitOf } = asJsonObject(permit);
  const signed: Signed = authorization
    ? {
        kind: 'eip3009',
        payer: lower(from),
        payTo: lower(to),
        nonce: lower(nonce),
        most: BigInt(String(value)),
        validBefore: Number(validBefore),
      }
    : {
        kind: 'permit2',
        payer: lower(permitOf.from),
        payTo: lower(asJsonObject(witness).to),
        nonce: String(permitOf.nonce),
        most: BigInt(String(asJsonObject(permitted).amount)),
        validBefore: Number(deadline),
      };
  return {
    signed,
    amount: BigInt(paymentRequirements.amount ?? paymentRequirements.maxAmountRequired),
    payment: paymentOf(chainName, chain.asset, signed),
    network: paymentRequirements.network,
  };
}

export interface FacilitatorParts {
  readonly chain: Chain;
  /** CAIP-2, and as version 1 calls it. */
  readonly names: { readonly caip2: string; readonly v1: string };
  readonly faults: Faults;
  readonly timeline: Timeline;
}

export function openFacilitator({ chain, names, faults, timeline }: FacilitatorParts): Facilitator {
  const { dice } = faults;
  const later = new Set<Promise<void>>();

  /** Money moves, or has moved before. */
  function move({ signed, amount, payment }: Asked): { transaction: string } | { reason: string } {
    try {
      const { transaction } = chain.transfer(signed, amount);
      timeline.note(`the chain moves ${amount}`, { mark: timeline.markOf(payment) });
      return { transaction };
    } catch (error) {
      return { reason: error instanceof Error ? error.message : String(error) };
    }
  }

  async function verify({ body, response, note, reach }: Exchange): Promise<void> {
    const { signed, amount, payment } = readAsked(names.caip2, chain, body);
    const mark = timeline.markOf(payment);
    const fault = faults.verifying();
    note(`verify asked, fault: ${fault}`, mark);
    reach('verify asked', mark);
    if (fault === 'slow') await delay(dice.between(200, 800));
    if (fault === 'connection lost') return loseConnection(response);
    if (fault === '500') return sendJson(response, 500, {});
    // For upto, what is verified is the bound.
    const reason = fault === 'refused' ? 'invalid_payload' : chain.refusal(signed, amount);
    sendJson(
      response,
      200,
      reason ? { isValid: false, invalidReason: reason } : { isValid: true, payer: signed.payer },
    );
    if (await gone(response)) reach('verify answered', mark);
  }

  const succeeded = (exchange: Exchange, { signed, network }: Asked, transaction: string) =>
    sendJson(exchange.response, 200, { success: true, transaction, network, payer: signed.payer });

  const failed = ({ response }: Exchange, { network }: Asked, errorReason: string) =>
    sendJson(response, 200, { success: false, errorReason, transaction: '', network });

  function moveLater(asked: Asked): void {
    const moved = delay(dice.between(500, 3_000)).then(() => void move(asked));
    later.add(moved);
    moved.finally(() => later.delete(moved));
  }

  async function settle(exchange: Exchange): Promise<void> {
    const { body, response, note, reach } = exchange;
    const asked = readAsked(names.caip2, chain, body);
    const mark = timeline.markOf(asked.payment);
    const fault = faults.settling();
    note(`settle asked, fault: ${fault}`, mark);
    reach('settle asked', mark);
    if (fault === 'slow') await delay(dice.between(300, 1_200));
    if (!movesNow(fault)) return withoutMoving(fault, exchange, asked);
    const moved = move(asked);
    reach('settled', mark);
    if (fault === 'answer lost after settling') return loseConnection(response);
    if (fault === '500 after settling') return sendJson(response, 500, {});
    if ('transaction' in moved) succeeded(exchange, asked, moved.transaction);
    else failed(exchange, asked, moved.reason);
    if (await gone(response)) {
      note(`settle answered: ${'transaction' in moved ? 'settled' : moved.reason}`, mark);
      reach('settle answered', mark);
    }
  }

  async function withoutMoving(fault: SettlingFault, exchange: Exchange, asked: Asked): Promise<void> {
    const { response } = exchange;
    switch (fault) {
      case 'refused':
        return failed(exchange, asked, 'unexpected_settle_error');
      case 'connection lost':
        return loseConnection(response);
      case 'settles seconds later, without an answer':
        moveLater(asked);
        await gone(response);
        return;
      case 'settles seconds after a 500':
        moveLater(asked);
        return sendJson(response, 500, {});
      default:
        return sendJson(response, 500, {});
    }
  }

  return {
    async answer(exchange) {
      switch (exchange.path) {
        case '/supported': {
          const upto = { facilitatorAddress: `0x${'fa'.repeat(20)}` };
          const kinds = [
            { x402Version: 2, scheme: 'exact', network: names.caip2 },
            { x402Version: 2, scheme: 'upto', network: names.caip2, extra: upto },
            { x402Version: 1, scheme: 'exact', network: names.v1 },
          ];
          return sendJson(exchange.response, 200, { kinds, extensions: [], signers: {} });
        }
        case '/verify':
          return verify(exchange);
        case '/settle':
          return settle(exchange);
        default:
          return sendJson(exchange.response, 404, {});
      }
    },
    async idle() {
      while (later.size > 0) await Promise.all(later);
    },
  };
}

const movesNow = (fault: SettlingFault): boolean =>
  fault === 'none' || fault === 'slow' || fault === 'answer lost after settling' || fault === '500 after settling';

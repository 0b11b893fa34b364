/** The facilitator's HTTP interface (x402, "Facilitator interface"), with faults around what it is asked. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Asked, Settler } from './chains.ts';
import { type Exchange, gone, loseConnection, sendJson } from './exchange.ts';
import type { Faults } from './faults.ts';
import type { Settling } from './settling.ts';
import type { Timeline } from './timeline.ts';

export interface FacilitatorParts {
  readonly settler: Settler;
  readonly settling: Settling;
  readonly faults: Faults;
  readonly timeline: Timeline;
}

/** Answers one request. */
export type AnswerFacilitator = (exchange: Exchange) => Promise<void>;

export function openFacilitator({ settler, settling, faults, timeline }: FacilitatorParts): AnswerFacilitator {
  async function verify({ body, response, note, reach }: Exchange): Promise<void> {
    const asked: Asked = JSON.parse(body);
    const mark = timeline.markOf(settler.nameOf(asked));
    const fault = faults.verifying();
    note(`verify asked, fault: ${fault}`, mark);
    reach('verify asked', mark);
    if (fault === 'slow') await delay(faults.dice.between(200, 800));
    if (fault === 'connection lost') return loseConnection(response);
    if (fault === '500') return sendJson(response, 500, {});
    const refusal = { isValid: false, invalidReason: 'invalid_payload' };
    sendJson(response, 200, fault === 'refused' ? refusal : await settler.verify(asked));
    if (await gone(response)) reach('verify answered', mark);
  }

  function settle(exchange: Exchange): Promise<void> {
    const asked: Asked = JSON.parse(exchange.body);
    const { network } = asked.paymentRequirements;
    return settling.answer(exchange, {
      payment: settler.nameOf(asked),
      failure: {},
      refusal: { success: false, errorReason: 'unexpected_settle_error', transaction: '', network },
      async carryOut() {
        const answer = await settler.settle(asked);
        return { answer, outcome: answer.success ? `settled by ${answer.transaction}` : answer.errorReason };
      },
    });
  }

  return async (exchange) => {
    switch (exchange.path) {
      case '/supported': {
        const kinds = await settler.kinds();
        return sendJson(exchange.response, 200, { kinds, extensions: [], signers: {} });
      }
      case '/verify':
        return verify(exchange);
      case '/settle':
        return settle(exchange);
      default:
        return sendJson(exchange.response, 404, {});
    }
  };
}

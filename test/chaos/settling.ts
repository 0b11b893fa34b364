/** Settling with faults around it. They are decided before, so that the money really moves or really does not. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Chains } from './chains.ts';
import { type Exchange, gone, loseConnection, sendJson } from './exchange.ts';
import type { Faults, SettlingFault } from './faults.ts';
import type { Timeline } from './timeline.ts';

export interface Order {
  /** As the store names it. */
  readonly payment: string;
  /** Moves the money, or does not where that is refused: what is answered, and in words for the timeline. */
  carryOut(): Promise<{ readonly answer: object; readonly outcome: string }>;
  /** Answered where it is refused for no reason. */
  readonly refusal: object;
  /** Answered with a 500, whether it moves or not. */
  readonly failure: object;
}

export interface Settling {
  answer(exchange: Exchange, order: Order): Promise<void>;
  /** Resolves once nothing is left that is to be settled later. */
  idle(): Promise<void>;
}

/** Who waits for an answer that does not come loses the connection after so long. */
const HANGING_MS = 4_000;

interface SettlingParts {
  readonly faults: Faults;
  readonly timeline: Timeline;
  readonly takeBack: Chains['takeBack'];
}

export function openSettling({ faults, timeline, takeBack }: SettlingParts): Settling {
  const { dice, settling } = faults;
  const later = new Set<Promise<unknown>>();

  function afterwards(work: Promise<unknown>): void {
    later.add(work);
    work.finally(() => later.delete(work)).catch(() => undefined);
  }

  /** The block that it is in is replaced by one without it; it may be in a later one. */
  async function replaceBlock({ payment }: Order, isForGood: boolean): Promise<void> {
    const note = (what: string) => timeline.note(`the chain: ${what}`, { mark: timeline.markOf(payment) });
    await delay(dice.between(0, 1_000));
    const putBack = takeBack?.(payment);
    if (!putBack) return;
    note(`TAKEN BACK${isForGood ? ' for good' : ''}`);
    if (isForGood) return;
    await delay(dice.between(300, 4_000));
    putBack();
    note('put into a later block, if it was still good');
  }

  async function carryOut(order: Order): Promise<{ readonly answer: object; readonly outcome: string }> {
    const carriedOut = await order.carryOut();
    timeline.note(`the chain: ${carriedOut.outcome}`, { mark: timeline.markOf(order.payment) });
    const reorganisation = takeBack ? faults.reorganising() : 'none';
    if (reorganisation !== 'none') afterwards(replaceBlock(order, reorganisation === 'taken back for good'));
    return carriedOut;
  }

  function carryOutLater(order: Order): void {
    afterwards(delay(dice.between(500, 3_000)).then(() => carryOut(order)));
  }

  async function withoutMoving(fault: SettlingFault, { response }: Exchange, order: Order): Promise<void> {
    switch (fault) {
      case 'refused':
        return sendJson(response, 200, order.refusal);
      case 'connection lost':
        return loseConnection(response);
      case 'settles seconds later, without an answer':
        carryOutLater(order);
        await Promise.race([gone(response), delay(HANGING_MS)]);
        return loseConnection(response);
      case 'settles seconds after a 500':
        carryOutLater(order);
        return sendJson(response, 500, order.failure);
      default:
        return sendJson(response, 500, order.failure);
    }
  }

  return {
    async answer(exchange, order) {
      const { response, note, reach } = exchange;
      const mark = timeline.markOf(order.payment);
      const fault = settling();
      note(`settle asked, fault: ${fault}`, mark);
      reach('settle asked', mark);
      if (fault === 'slow') await delay(dice.between(300, 1_200));
      if (!movesNow(fault)) return withoutMoving(fault, exchange, order);
      const { answer, outcome } = await carryOut(order);
      reach('settled', mark);
      if (fault === 'answer lost after settling') return loseConnection(response);
      if (fault === '500 after settling') return sendJson(response, 500, order.failure);
      sendJson(response, 200, answer);
      if (await gone(response)) {
        note(`settle answered: ${outcome}`, mark);
        reach('settle answered', mark);
      }
    },
    async idle() {
      while (later.size > 0) await Promise.all(later);
    },
  };
}

const movesNow = (fault: SettlingFault): boolean =>
  fault === 'none' || fault === 'slow' || fault === 'answer lost after settling' || fault === '500 after settling';

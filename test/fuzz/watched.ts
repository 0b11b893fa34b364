/** Sends requests and holds every answer, and the gateway's event loop, to what was promised. */
import { faultOfAnswer, headerOf } from './answers.ts';
import { asCurl, type Call, send } from './call.ts';
import type { MeasuredGateway } from './measured-gateway.ts';
import { Violation } from './violation.ts';
import { type Answer, type Conversation, converse, type Script } from './wire.ts';

/** CPU time of one turn of the event loop. */
const LONGEST_TURN_MS = 100;
const ALONE = 3;
const RECENT = 20;

export interface Watched {
  readonly gateway: MeasuredGateway;
  /** Status -> answers so far. */
  readonly statuses: ReadonlyMap<number, number>;
  /** What was sent last, for who has to find out what ended the gateway: commands that send it again. */
  recent(): string[];
  /** The answer, where all is well with it. Throws Violation. */
  send(call: Call, url?: string): Promise<Answer>;
  /** The same for a request that may be no HTTP, or half of one: undefined where its connection was closed. */
  sendOdd(call: Call, url?: string): Promise<Answer | undefined>;
  /** The same for bytes. `isSound`: they are HTTP, and each request has to be answered. */
  converse(script: Script, isSound: boolean): Promise<Conversation>;
}

export function openWatched(gateway: MeasuredGateway): Watched {
  const statuses = new Map<number, number>();
  const underWay = new Set<Promise<unknown>>();
  const recent: (() => string)[] = [];
  let alone: Promise<unknown> = Promise.resolve();

  /** Beside others, but never while something is looked at alone. */
  async function beside<Result>(work: () => Promise<Result>, reproduction: () => string): Promise<Result> {
    await alone;
    recent.push(reproduction);
    if (recent.length > RECENT) recent.shift();
    const working = work();
    underWay.add(working);
    return await working.finally(() => underWay.delete(working));
  }

  /** CPU time of the longest turn that the work makes every time, with nothing beside it. */
  function longestTurnOf(work: () => Promise<unknown>): Promise<number> {
    const before = alone;
    const measured = (async () => {
      await before;
      await Promise.allSettled(underWay);
      let least = Number.POSITIVE_INFINITY;
      for (let time = 0; time < ALONE && least > LONGEST_TURN_MS; time += 1) {
        await gateway.longestTurn();
        await work();
        least = Math.min(least, await gateway.longestTurn());
      }
      return least;
    })();
    alone = measured.catch(() => {});
    return measured;
  }

  async function demandShortTurns(
    milliseconds: number,
    work: () => Promise<unknown>,
    reproduction: () => string,
  ): Promise<void> {
    if (milliseconds <= LONGEST_TURN_MS) return;
    const longest = await longestTurnOf(work);
    if (longest > LONGEST_TURN_MS)
      throw new Violation(`holds the event loop for ${longest.toFixed(0)} ms`, reproduction());
  }

  function demandGood(method: string, answer: Answer, reproduction: () => string): void {
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    const fault = faultOfAnswer(method, answer);
    if (fault === undefined) return;
    const shown = `${answer.status} ${headerOf(answer, 'content-type')} ${answer.body.subarray(0, 300)}`;
    throw new Violation(`${fault}: ${shown}`, reproduction());
  }

  async function exchange(call: Call, url: string, isSound: boolean): Promise<Answer | undefined> {
    const reproduction = () => asCurl(url, call);
    const { answer, end, milliseconds } = await beside(() => send(url, call, isSound), reproduction);
    if (answer) demandGood(call.method, answer, reproduction);
    else if (isSound || end === 'silent') {
      throw new Violation(
        `got no answer: the connection was ${end} after ${milliseconds.toFixed(0)} ms`,
        reproduction(),
      );
    }
    await demandShortTurns(milliseconds, () => send(url, call, isSound), reproduction);
    return answer;
  }

  return {
    gateway,
    statuses,
    recent: () => recent.map((reproduction) => reproduction()),
    async send(call, url = gateway.url) {
      const answer = await exchange(call, url, true);
      if (!answer) throw new Error('no answer was let through');
      return answer;
    },
    sendOdd: (call, url = gateway.url) => exchange(call, url, false),
    async converse(script, isSound) {
      const reproduction = () => asShell(gateway.url, script);
      const conversation = await beside(() => converse(gateway.url, script), reproduction);
      const { answers, end, rest, milliseconds } = conversation;
      for (const [index, answer] of answers.entries()) demandGood(script.methods[index] ?? 'GET', answer, reproduction);
      if (end === 'silent') throw new Violation('got neither an answer nor an end', reproduction());
      if (rest.length > 0 && script.ending !== 'leave')
        throw new Violation(`got what is no answer: ${rest.subarray(0, 200)}`, reproduction());
      if (isSound && answers.length !== script.methods.length) {
        throw new Violation(`got ${answers.length} answers to ${script.methods.length} requests`, reproduction());
      }
      if (script.pauseMs === 0) await demandShortTurns(milliseconds, () => converse(gateway.url, script), reproduction);
      return conversation;
    },
  };
}

/** A command for bash that writes the bytes. */
function asShell(url: string, { pieces, pauseMs, ending }: Script): string {
  const { hostname, port } = new URL(url);
  const written = pieces.map((piece) => `printf '%b' ${JSON.stringify(escaped(piece))}`);
  const wait = ending === 'wait' ? '; sleep 5' : '';
  return `(${written.join(`; sleep ${pauseMs / 1000}; `)}${wait}) | nc ${hostname} ${port}   # ending: ${ending}`;
}

const escaped = (bytes: Buffer): string =>
  [...bytes]
    .map((byte) =>
      /[\w /:.,;=?&{}()<>-]/.test(String.fromCharCode(byte)) && byte < 127
        ? String.fromCharCode(byte)
        : `\\x${byte.toString(16).padStart(2, '0')}`,
    )
    .join('');

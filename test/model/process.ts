/**
 * A process that runs the gateway's code. Whatever the code waits for is an operation, and happens when it is let; the
 * process can fall asleep with it, or die.
 */

import type { Await, Operation, Outcome } from './operation.ts';
import { type Host, inside } from './time.ts';
import { NOTHING } from './upstream.ts';

type Answer = { readonly result: unknown } | { readonly error: unknown };

interface Timer {
  readonly at: number;
  readonly call: () => void;
}

interface Pause {
  /** What had changed by then. */
  readonly since: number;
  readonly resolve: () => void;
}

export interface Process {
  readonly name: string;
  readonly waits: Await;
  readonly condition: 'awake' | 'asleep' | 'dead';
  /** What its code waits for. */
  readonly waiting: readonly Operation[];
  /** Whether something it began has not ended. */
  readonly isBusy: boolean;
  /** What it learnt without waiting for it. */
  learns(text: string): void;
  /** Code that waits for nothing. */
  runs(code: () => void): Promise<void>;
  /** Starts some work, which goes on to its first operation. */
  begin(work: () => Promise<void>): Promise<void>;
  /** The operation happens, and the code goes on to its next. */
  perform(operation: Operation, outcome: Outcome): Promise<void>;
  /** The operation happens, and the code does not hear of it before it wakes. */
  performUnheard(operation: Operation, outcome: Outcome): Promise<void>;
  sleep(): void;
  wake(): Promise<void>;
  die(): void;
  /** Unless it sleeps: timers that are due, and looking again where something changed. Neither has an effect by itself. */
  goOn(): Promise<void>;
  /** All that decides what its code will do next: what it heard since it was idle, and when. */
  state(): unknown;
}

export interface ProcessParts {
  readonly name: string;
  now(): number;
  /** Counts what changed anywhere. */
  changes(): number;
  /** Something happened of which it will hear. */
  acted(): void;
}

const asText = (answer: Answer): string =>
  'error' in answer
    ? String(answer.error)
    : (JSON.stringify(answer.result, (_, part) => (typeof part === 'bigint' ? `${part}n` : part)) ?? 'undefined');

export function openProcess({ name, now, changes, acted }: ProcessParts): Process {
  let condition: Process['condition'] = 'awake';
  const waiting: Operation[] = [];
  const unheard: { operation: Operation; answer: Answer }[] = [];
  let timers: Timer[] = [];
  let pauses: Pause[] = [];
  let busy = 0;
  let begun = 0;
  let heard: string[] = [];
  /** Whether several things were done at once since it was idle: what each of them heard is not told apart. */
  let isMixed = false;

  const waits: Await = (label, outcomes, { isQuick = false, mayGoUnheard = true } = {}) =>
    new Promise((resolve, reject) => {
      waiting.push({
        label,
        isQuick,
        mayGoUnheard,
        outcomes,
        deliver: (answer) => ('error' in answer ? reject(answer.error) : resolve(answer.result as never)),
      });
    });

  const host: Host = {
    after(milliseconds, call) {
      const timer = { at: now() + milliseconds, call };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    pause() {
      // Whoever has one thing to do looks again as if for the first time.
      if (busy === 1) heard = [`looks again, having begun @${begun}`];
      return new Promise((resolve) => pauses.push({ since: changes(), resolve }));
    },
  };

  const remember = (text: string): void => {
    heard.push(`${text} @${now()}`);
  };

  async function happen(operation: Operation, { happen: act }: Outcome): Promise<Answer> {
    waiting.splice(waiting.indexOf(operation), 1);
    try {
      return { result: await act() };
    } catch (error) {
      return { error };
    } finally {
      acted();
    }
  }

  async function deliver(operation: Operation, answer: Answer): Promise<void> {
    if (condition === 'dead') return;
    if ('result' in answer && answer.result === NOTHING) return remember(`${operation.label}: nothing`);
    remember(`${operation.label}: ${asText(answer)}`);
    await inside(host, () => operation.deliver(answer));
  }

  async function goOn(): Promise<void> {
    if (condition !== 'awake') return;
    for (let due = timers.find(({ at }) => at <= now()); due; due = timers.find(({ at }) => at <= now())) {
      const { call } = due;
      timers = timers.filter((other) => other !== due);
      remember('a timer');
      await inside(host, call);
    }
    const over = pauses.filter(({ since }) => changes() > since);
    pauses = pauses.filter((pause) => !over.includes(pause));
    for (const { resolve } of over) {
      remember('looks again');
      await inside(host, resolve);
    }
  }

  return {
    name,
    waits,
    waiting,
    get condition() {
      return condition;
    },
    get isBusy() {
      return busy > 0;
    },
    learns: remember,
    runs: (code) => inside(host, code),
    async begin(work) {
      isMixed ||= busy > 0;
      busy += 1;
      begun = now();
      remember('begins');
      await inside(host, () => {
        work().finally(() => {
          busy -= 1;
          if (busy > 0) return;
          heard = [];
          isMixed = false;
        });
      });
    },
    perform: async (operation, outcome) => deliver(operation, await happen(operation, outcome)),
    async performUnheard(operation, outcome) {
      unheard.push({ operation, answer: await happen(operation, outcome) });
    },
    sleep() {
      condition = 'asleep';
    },
    async wake() {
      condition = 'awake';
      for (const { operation, answer } of unheard.splice(0)) await deliver(operation, answer);
      await goOn();
    },
    die() {
      condition = 'dead';
      waiting.length = 0;
      unheard.length = 0;
      timers = [];
      pauses = [];
      heard = [];
    },
    goOn,
    // In which order things at work side by side heard what they did shows in what they heard.
    state: () => [
      condition,
      isMixed ? heard.toSorted() : heard,
      unheard.map(({ operation, answer }) => [operation.label, asText(answer)]),
    ],
  };
}

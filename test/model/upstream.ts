/** The provider: what it was asked, by whom, and which calls are under way. */
import type { UpstreamCaller } from '../../src/lifecycle/fulfil.ts';
import { UpstreamProblem } from '../../src/upstream/problem.ts';
import type { Await, Outcome } from './operation.ts';

export type UpstreamAnswer = 'answers' | 'fails' | 'never answers' | 'kills its caller';

export interface UpstreamCall {
  readonly payment: string;
  readonly instance: string;
  /** Which claim of the payment it belongs to, once that was looked up. */
  attempt: number | undefined;
  isUnderWay: boolean;
}

export interface Upstream {
  readonly calls: readonly UpstreamCall[];
  /** For one instance. */
  caller(instance: string, waits: Await): UpstreamCaller;
  calmDown(): void;
  state(): unknown;
}

export interface UpstreamParts {
  readonly answers: readonly UpstreamAnswer[];
  kill(instance: string): void;
}

/** Stands for a result that never comes. */
export const NOTHING = Symbol('nothing');

export function openUpstream({ answers, kill }: UpstreamParts): Upstream {
  const calls: UpstreamCall[] = [];
  let isCalm = false;

  function outcome(call: UpstreamCall, label: UpstreamAnswer, text: string): Outcome {
    const happen = () => {
      switch (label) {
        case 'answers':
          call.isUnderWay = false;
          return { text };
        case 'fails':
          call.isUnderWay = false;
          throw new UpstreamProblem('failed', 'model', 'the provider failed');
        case 'never answers':
          return NOTHING;
        case 'kills its caller':
          kill(call.instance);
          return NOTHING;
      }
    };
    return { label, happen };
  }

  return {
    calls,
    caller: (instance, waits) => ({
      stopping: new AbortController().signal,
      call(_route, { prompt }, { paymentId, signal }) {
        const call: UpstreamCall = { payment: paymentId, instance, attempt: undefined, isUnderWay: true };
        calls.push(call);
        signal.addEventListener('abort', () => {
          call.isUnderWay = false;
        });
        const text = `result ${calls.length} for ${prompt}`;
        const possible = () => (isCalm ? (['answers'] as const) : answers);
        const outcomes = () => possible().map((label) => outcome(call, label, text));
        return waits(`calls the upstream for ${paymentId}`, outcomes, { mayGoUnheard: false });
      },
    }),
    calmDown() {
      isCalm = true;
    },
    state: () => calls.map(({ payment, instance, attempt, isUnderWay }) => [payment, instance, attempt, isUnderWay]),
  };
}

/** How far a purchase is, as it is shown. */
export type StepName = 'challenge' | 'signature' | 'settlement' | 'answer';

export interface Step {
  readonly name: StepName;
  readonly state: 'working' | 'done' | 'failed';
  readonly words: string;
  readonly startedAt: number;
  readonly ms?: number;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  /** A header, decoded; what was signed. */
  readonly decoded?: { readonly title: string; readonly value: unknown };
}

export type Result =
  | { readonly kind: 'json'; readonly body: unknown }
  | { readonly kind: 'text'; readonly text: string; readonly isWhole: boolean };

/** Tells of steps as they happen: the last word on a step is what is so. */
export interface Watcher {
  step(step: Step): void;
  result(result: Result): void;
}

/** Tells that a step begins; what comes back tells how it ended. */
export function begin({ step: tell }: Pick<Watcher, 'step'>, name: StepName, words: string) {
  const startedAt = performance.now();
  tell({ name, state: 'working', words, startedAt });
  return (state: 'done' | 'failed', end: Pick<Step, 'words' | 'headers' | 'decoded'>) =>
    tell({ name, state, startedAt, ms: performance.now() - startedAt, ...end });
}

export const withStep = (steps: readonly Step[], step: Step): readonly Step[] =>
  steps.some(({ name }) => name === step.name)
    ? steps.map((each) => (each.name === step.name ? step : each))
    : [...steps, step];

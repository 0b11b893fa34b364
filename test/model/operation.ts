/** What a party's code waits for: it happens when it is chosen, and comes to one of several things. */
export interface Outcome<Result = unknown> {
  readonly label: string;
  /** The effect and the answer, at one moment. */
  happen(): Result | Promise<Result>;
}

export interface Operation {
  /** What is asked for, as a step tells it. */
  readonly label: string;
  /** Whether it is over before much time has passed, unless whoever waits for it sleeps. */
  readonly isQuick: boolean;
  /** Whether it may happen while whoever waits for it sleeps. */
  readonly mayGoUnheard: boolean;
  outcomes(): readonly Outcome[];
  /** Lets the waiting code go on; `error`: by throwing it. */
  deliver(answer: { readonly result: unknown } | { readonly error: unknown }): void;
}

/** Makes the code of one instance wait for what it asks for. */
export type Await = <Result>(
  label: string,
  outcomes: () => readonly Outcome<Result>[],
  options?: Partial<Pick<Operation, 'isQuick' | 'mayGoUnheard'>>,
) => Promise<Result>;

/** What the primary and its workers ask each other. */
import type { Snapshot } from '../metrics/metrics.ts';
import type { Readiness } from '../readiness.ts';
import type { Unsold } from '../start/unsold.ts';

/** Reloading checks every file, at every worker at the same time. */
export const RELOAD_LIMIT_MS = 60_000;

/** What a worker tells once it takes calls. */
export interface Started {
  /** Where it listens. */
  readonly url: string;
  /** Of the operator's console, where it is served. */
  readonly consoleUrl: string | undefined;
  /** The catalogue that it sells. */
  readonly catalogue: string;
  readonly unsold: Unsold;
}

/** How a worker stands. */
export interface State {
  readonly health: object;
  readonly readiness: Readiness;
  /** Upstream -> whether this worker does not ask it for a while. */
  readonly circuits: ReadonlyMap<string, boolean>;
}

/** What came of loading the catalogue again. */
export type Reloaded =
  | { readonly catalogue: string; readonly endpoints: number; readonly isNew: boolean }
  /** Why another is not sold, in words for the operator. */
  | { readonly refused: string };

export interface AskedOfWorkers {
  snapshot(): Promise<Snapshot>;
  state(): Promise<State>;
  flush(): Promise<void>;
  reload(): Promise<Reloaded>;
  /** To end once what comes over the connections there are is answered. */
  retire(): Promise<void>;
}

export interface AskedOfPrimary {
  ready(started: Started): Promise<void>;
  /** Why it cannot start. */
  failed(problem: string): Promise<void>;
  /** The last that it has counted. */
  counted(snapshot: Snapshot): Promise<void>;
  /** Of all together, in Prometheus' text format. */
  metrics(): Promise<string>;
  /** Of all that take calls, and how many should. */
  states(): Promise<{ readonly wanted: number; readonly states: readonly State[] }>;
  /** Has all add to the store what they have counted. */
  flush(): Promise<void>;
  /** Has all sell what the asking worker does. */
  reloaded(): Promise<void>;
}

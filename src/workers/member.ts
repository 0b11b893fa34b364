/** A worker, as the primary sees it. */
import cluster from 'node:cluster';
import type { Snapshot } from '../metrics/metrics.ts';
import { type Line, openLine } from './line.ts';
import type { AskedOfPrimary, AskedOfWorkers, Started } from './questions.ts';

/** How a process ended. */
export interface End {
  readonly status: number | null;
  readonly signal: string | null;
  /** What it said itself. */
  readonly problem: string | undefined;
}

export interface Member extends Pick<Line<AskedOfWorkers>, 'ask'> {
  readonly pid: number;
  /** `leaving`: takes no new connections. */
  readonly stands: 'starting' | 'ready' | 'leaving' | 'ended';
  /** Once it takes calls, or has ended before. */
  readonly opened: Promise<Started | End>;
  readonly ended: Promise<End>;
  /** The newest that is known of what it has counted. */
  counted(): Snapshot | undefined;
  /** Asks for it, and answers what was known before where it does not say. */
  count(): Promise<Snapshot | undefined>;
  /** Without losing a call, where another takes the new ones. */
  retire(): void;
  /** What is under way may be finished for a while. */
  drain(): void;
  kill(): void;
}

/** Sooner than a worker gives up that asks for what all have to say. */
const LIMIT_MS = 2_000;

type Asked = Pick<AskedOfPrimary, 'metrics' | 'states' | 'flush' | 'reloaded'>;

/** Starts a process. `variables` are set for it besides the primary's own. */
export function launch(variables: Readonly<Record<string, string>>, asked: Asked): Member {
  const worker = cluster.fork(variables);
  let stands: Member['stands'] = 'starting';
  let snapshot: Snapshot | undefined;
  let problem: string | undefined;
  let tellStarted: (started: Started) => void;
  const started = new Promise<Started>((resolve) => {
    tellStarted = resolve;
  });
  const ended = new Promise<End>((resolve) => {
    worker.once('exit', (status, signal) => {
      stands = 'ended';
      resolve({ status, signal, problem });
    });
    worker.on('error', ({ message }) => {
      // Anything else comes from sending to a process that has just ended, which its end tells.
      if (worker.process.pid !== undefined) return;
      stands = 'ended';
      resolve({ status: null, signal: null, problem: message });
    });
  });
  const line = openLine<AskedOfPrimary, AskedOfWorkers>(
    {
      send: (message) => void worker.send(message, () => undefined),
      listen: (heard) => void worker.on('message', heard),
    },
    {
      ...asked,
      async ready(what) {
        if (stands === 'starting') stands = 'ready';
        tellStarted(what);
      },
      async failed(why) {
        problem = why;
      },
      async counted(last) {
        snapshot = last;
      },
    },
  );
  const gone = ended.then(() => {
    throw new Error(`worker ${worker.process.pid} has ended`);
  });
  gone.catch(() => undefined);
  const ask: Member['ask'] = (name, given, limitMs = LIMIT_MS) =>
    Promise.race([line.ask(name, given, limitMs), gone]) as ReturnType<AskedOfWorkers[typeof name]>;
  const signal = (name: NodeJS.Signals) => void worker.process.kill(name);
  return {
    pid: worker.process.pid ?? 0,
    get stands() {
      return stands;
    },
    opened: Promise.race([started, ended]),
    ended,
    ask,
    counted: () => snapshot,
    async count() {
      if (stands !== 'starting') snapshot = await ask('snapshot').catch(() => snapshot);
      return snapshot;
    },
    retire() {
      const isReady = stands === 'ready';
      stands = 'leaving';
      if (isReady) ask('retire').catch(() => signal('SIGTERM'));
      else signal('SIGTERM');
    },
    drain: () => signal('SIGTERM'),
    kill: () => signal('SIGKILL'),
  };
}

/** What happened, where to look, and what can be done. */
export function toldOf({ status, signal, problem }: End): string {
  if (problem !== undefined) return `could not start: ${problem}`;
  if (status === 0) return 'ended as it was told to, and not by its primary: signals are for the primary';
  switch (signal) {
    case 'SIGKILL':
      return 'was killed (SIGKILL), by somebody or by the kernel for want of memory: the log of the kernel tells; a smaller TURNPIKE_WORKERS takes less';
    case 'SIGABRT':
      return 'gave up (SIGABRT), as Node does when its heap is full: NODE_OPTIONS=--max-old-space-size=<MB> raises it';
    case null:
      return `ended with status ${status}: what was printed before tells why`;
    default:
      return `was ended by ${signal}`;
  }
}

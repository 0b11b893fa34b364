/** The gateways under test: processes that are killed, stopped for a while, and replaced by one that is warm already. */
import { type ChildProcess, fork } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import type { Measured, Order, Said } from './gateway.ts';
import type { Timeline } from './timeline.ts';

type Serve = Extract<Order, { order: 'serve' }>;

export interface Gateways {
  /** The addresses of those that serve now, stopped ones included. */
  urls(): readonly { readonly slot: number; readonly url: string }[];
  /** Of those that were neither killed nor stopped. */
  working(): readonly number[];
  /** Starts one in this place. Resolves once it serves; what does not start is tried again. */
  serve(slot: number): Promise<void>;
  /** False where nothing runs there. */
  kill(slot: number): boolean;
  /** False where nothing runs there, or it is stopped already. Goes on after so many milliseconds. */
  suspend(slot: number, milliseconds: number): boolean;
  measure(slot: number): Promise<Measured>;
  /** What went wrong with processes that nobody killed. */
  readonly faults: readonly string[];
  stop(): Promise<void>;
}

export interface GatewaysParts {
  /** What they run. */
  readonly file: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeline: Timeline;
  orderFor(slot: number): Serve;
  /**
   * Called when a process was killed or stopped, has ended, or slept for so long until now: what it had begun by then may be
   * somebody else's.
   */
  onLost(slot: number, sleptMs?: number): void;
  /** How many wait to take a place. */
  readonly spares: number;
}

interface Process {
  readonly child: ChildProcess;
  readonly warm: Promise<unknown>;
  slot?: number;
  url?: string;
  isStopped: boolean;
  isKilled: boolean;
}

const START_ATTEMPTS = 20;
/** Levels of pino. */
const ERROR = 50;

export function openGateways({ file, environment, timeline, orderFor, onLost, spares }: GatewaysParts): Gateways {
  const places = new Map<number, Process>();
  const warm: Process[] = [];
  const all = new Set<Process>();
  const faults: string[] = [];
  let isOver = false;

  const said = <Kind extends Said['said']>({ child }: Process, kind: Kind): Promise<Extract<Said, { said: Kind }>> =>
    new Promise((resolve, reject) => {
      const hear = (message: Said) => {
        if (message.said !== kind) return;
        leave();
        resolve(message as Extract<Said, { said: Kind }>);
      };
      const ended = () => {
        leave();
        reject(new Error('the process has ended'));
      };
      const leave = () => child.off('message', hear).off('exit', ended);
      child.on('message', hear).on('exit', ended);
    });

  function start(): Process {
    const child = fork(file, [], {
      execArgv: ['--expose-gc'],
      env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...environment },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    const process_: Process = { child, warm: Promise.resolve(), isStopped: false, isKilled: false };
    const warmed = said(process_, 'warm');
    warmed.catch(() => undefined);
    const started = Object.assign(process_, { warm: warmed });
    if (child.stderr) createInterface({ input: child.stderr }).on('line', (line) => complain(started, line));
    child.once('exit', (code, signal) => exited(started, code, signal));
    child.on('message', (message: Said) => {
      if (message.said === 'slept' && started.slot !== undefined) onLost(started.slot, message.milliseconds);
    });
    all.add(started);
    return started;
  }

  /** Errors in the log of a gateway belong to the timeline, and so does what it says when it ends. */
  function complain({ slot }: Process, line: string): void {
    if (!line.startsWith('{"')) {
      if (/^\S*error/i.test(line)) timeline.note(`says: ${line}`, { slot });
      return;
    }
    const { level, msg, requestId, payment, err } = JSON.parse(line);
    if (level < ERROR) return;
    const about = [requestId, payment, err?.message].filter((each) => each !== undefined);
    timeline.note(`log: ${msg} (${about.join(', ')})`, { slot });
  }

  function exited(ended: Process, code: number | null, signal: NodeJS.Signals | null): void {
    all.delete(ended);
    const { slot } = ended;
    if (slot !== undefined && places.get(slot) === ended) places.delete(slot);
    if (ended.isKilled || isOver) return;
    timeline.note(`a gateway has ended by itself: ${signal ?? code}`, { slot });
    if (ended.url === undefined) return;
    faults.push(`the gateway in place ${slot} has ended by itself: ${signal ?? code}`);
    if (slot !== undefined) {
      onLost(slot);
      serve(slot).catch(() => undefined);
    }
  }

  function refill(): void {
    while (warm.length < spares && !isOver) warm.push(start());
  }

  async function serve(slot: number): Promise<void> {
    for (let attempt = 1; !isOver; attempt += 1) {
      refill();
      const next = warm.shift();
      if (!next) throw new Error('no process is left to start');
      refill();
      try {
        await next.warm;
        next.slot = slot;
        const serving = said(next, 'serving');
        next.child.send(orderFor(slot));
        const { url } = await serving;
        next.url = url;
        places.set(slot, next);
        timeline.note('a gateway serves', { slot });
        return;
      } catch (error) {
        // A database that is down keeps one from starting: whoever runs it starts it again.
        if (attempt >= START_ATTEMPTS) throw error;
        await delay(200);
      }
    }
  }

  function end(process_: Process): void {
    process_.isKilled = true;
    process_.child.kill('SIGKILL');
  }

  return {
    faults,
    urls: () => [...places].map(([slot, { url = '' }]) => ({ slot, url })),
    working: () => [...places].filter(([, { isStopped }]) => !isStopped).map(([slot]) => slot),
    serve,
    kill(slot) {
      const process_ = places.get(slot);
      if (!process_) return false;
      end(process_);
      places.delete(slot);
      timeline.note('KILLED', { slot });
      onLost(slot);
      return true;
    },
    suspend(slot, milliseconds) {
      const process_ = places.get(slot);
      if (!process_ || process_.isStopped) return false;
      process_.isStopped = true;
      process_.child.kill('SIGSTOP');
      timeline.note(`STOPPED for ${milliseconds} ms`, { slot });
      onLost(slot);
      setTimeout(() => {
        process_.isStopped = false;
        if (process_.isKilled) return;
        process_.child.kill('SIGCONT');
        timeline.note('GOES ON', { slot });
      }, milliseconds);
      return true;
    },
    async measure(slot) {
      const process_ = places.get(slot);
      if (!process_) throw new Error(`no gateway serves in place ${slot}`);
      const measured = said(process_, 'measured');
      process_.child.send({ order: 'measure' } satisfies Order);
      return measured;
    },
    async stop() {
      isOver = true;
      const ended = [...all].map(({ child }) => new Promise((resolve) => child.once('exit', resolve)));
      for (const process_ of all) end(process_);
      await Promise.all(ended);
    },
  };
}

/** Servers under the same load, in turns, so that whatever else the machine does meets all of them. */
import type { Load, LoadJob } from './load.ts';
import type { ServerProcess, Servers } from './server-process.ts';

export interface Measured {
  /** Requests per second, one for each round. */
  readonly rates: readonly number[];
  /** Milliseconds of one call, of each round. */
  readonly p50s: readonly number[];
  readonly p99s: readonly number[];
  /** Microseconds of processor time per request over all rounds; undefined where the system does not tell. */
  readonly processorTime: number | undefined;
}

export type Work = Omit<LoadJob, 'urls' | 'milliseconds'>;

/** Whom to call, and what it is called with in a way of its own. */
export interface Target extends Partial<Pick<LoadJob, 'path' | 'headers' | 'body' | 'payment' | 'tool' | 'wallets'>> {
  readonly server: Pick<ServerProcess, 'url' | 'processorTime'> | Servers;
}

export interface Rounds {
  readonly rounds: number;
  /** Of one round. */
  readonly milliseconds: number;
}

/** Enough for the compiler to be done with the road, in a time that is bounded on a slow machine. */
const WARM_UP = { requests: 10_000, milliseconds: 10_000 };

/** What was measured, in the order of the targets. The first calls of each only warm it up, for no longer than twice its rounds. */
export async function measure(
  load: Load,
  targets: readonly Target[],
  work: Work,
  { rounds, milliseconds }: Rounds,
): Promise<Measured[]> {
  const subjects = targets.map(({ server, ...call }) => ({
    server,
    job: { ...work, ...call, urls: 'urls' in server ? server.urls : [server.url], milliseconds },
    rates: [] as number[],
    p50s: [] as number[],
    p99s: [] as number[],
    requests: 0,
    microseconds: 0,
  }));
  for (const { job } of subjects) {
    const requests = Math.min(WARM_UP.requests, 3 * job.requests);
    await load.run({ ...job, requests, milliseconds: Math.min(WARM_UP.milliseconds, 2 * rounds * milliseconds) });
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const subject of round % 2 === 0 ? subjects : [...subjects].reverse()) {
      const before = subject.server.processorTime() ?? Number.NaN;
      const { requests, milliseconds: taken, p50, p99 } = await load.run(subject.job);
      subject.microseconds += (subject.server.processorTime() ?? Number.NaN) - before;
      subject.requests += requests;
      subject.rates.push((requests / taken) * 1000);
      subject.p50s.push(p50);
      subject.p99s.push(p99);
    }
  }
  return subjects.map(({ rates, p50s, p99s, requests, microseconds }) => {
    const processorTime = microseconds / requests;
    return { rates, p50s, p99s, processorTime: Number.isNaN(processorTime) ? undefined : processorTime };
  });
}

/** Servers under the same load, in turns, so that whatever else the machine does meets all of them. */
import type { Load, LoadJob } from './load.ts';
import type { ServerProcess } from './server-process.ts';

export interface Measured {
  /** Requests per second, one for each round. */
  readonly rates: readonly number[];
  /** Microseconds of processor time per request over all rounds; undefined where the system does not tell. */
  readonly processorTime: number | undefined;
}

export type Work = Omit<LoadJob, 'url'>;

/** Enough for the compiler to have seen the road, in a time that is bounded on a slow machine. */
const WARM_UP = { requests: 3_000, milliseconds: 4_000 };

/** Undefined for a server that is not there. */
type MeasuredOf<Servers> = {
  [Name in keyof Servers]: Servers[Name] extends ServerProcess ? Measured : Measured | undefined;
};

/** What was measured, under the servers' names. The first round of each only warms up. */
export async function measure<Servers extends Readonly<Record<string, ServerProcess | undefined>>>(
  load: Load,
  servers: Servers,
  work: Work,
  rounds: number,
): Promise<MeasuredOf<Servers>> {
  const present = Object.entries(servers).flatMap(([name, server]) => (server ? [{ name, server }] : []));
  const subjects = present.map(({ name, server }) => ({
    name,
    server,
    rates: [] as number[],
    requests: 0,
    microseconds: 0,
  }));
  for (const { server } of subjects) await load.run({ ...work, ...WARM_UP, url: server.url });
  for (let round = 0; round < rounds; round += 1) {
    for (const subject of round % 2 === 0 ? subjects : [...subjects].reverse()) {
      const before = subject.server.processorTime() ?? Number.NaN;
      const { requests, milliseconds } = await load.run({ ...work, url: subject.server.url });
      subject.microseconds += (subject.server.processorTime() ?? Number.NaN) - before;
      subject.requests += requests;
      subject.rates.push((requests / milliseconds) * 1000);
    }
  }
  const measured = subjects.map(({ name, rates, requests, microseconds }) => {
    const processorTime = microseconds / requests;
    return [name, { rates, processorTime: Number.isNaN(processorTime) ? undefined : processorTime }];
  });
  return Object.fromEntries(measured) as MeasuredOf<Servers>;
}

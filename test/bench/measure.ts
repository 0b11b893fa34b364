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

const WARM_UP_MS = 1_000;

/** Names -> what was measured. The first round of each only warms up. */
export async function measure<Name extends string>(
  load: Load,
  servers: Readonly<Record<Name, ServerProcess>>,
  work: Work,
  rounds: number,
): Promise<Record<Name, Measured>> {
  const subjects = (Object.entries(servers) as [Name, ServerProcess][]).map(([name, server]) => ({
    name,
    server,
    rates: [] as number[],
    requests: 0,
    microseconds: 0,
  }));
  for (const { server } of subjects) await load.run({ ...work, url: server.url, milliseconds: WARM_UP_MS });
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
  return Object.fromEntries(measured);
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  const middle = sorted.length / 2;
  const at = (index: number) => sorted[index] ?? Number.NaN;
  return Number.isInteger(middle) ? (at(middle - 1) + at(middle)) / 2 : at(Math.floor(middle));
}

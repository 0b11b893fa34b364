/** `GET upstreams`: who was asked for what was sold, and how that went. */
import { quantile } from '../metrics/buckets.ts';
import { type Rate, rateToDecimal } from '../money.ts';
import type { UpstreamRow } from './figures.ts';
import type { Query } from './input.ts';
import type { ConsoleParts } from './parts.ts';
import { readSpans } from './spans.ts';

interface Sum {
  calls: number;
  failures: number;
  spend: Rate;
  readonly ms: Map<number, number>;
}

/** By name: those of the catalogue, and those that were asked before. */
export async function upstreams(parts: ConsoleParts, query: Query): Promise<UpstreamRow[]> {
  const { stepMs: _, ...period } = readSpans(query, parts.store.now());
  await parts.flush();
  const sums = new Map<string, Sum>();
  const sumOf = (name: string): Sum => {
    const sum = sums.get(name) ?? { calls: 0, failures: 0, spend: 0n, ms: new Map() };
    sums.set(name, sum);
    return sum;
  };
  for (const name of parts.catalogue().upstreams.keys()) sumOf(name);
  for (const { upstream, bucket, calls, failures, spend } of await parts.store.figures.exchanges(period)) {
    const sum = sumOf(upstream);
    sum.calls += calls;
    sum.failures += failures;
    sum.spend += spend;
    if (calls > 0) sum.ms.set(bucket, (sum.ms.get(bucket) ?? 0) + calls);
  }
  const circuits = await parts.circuits();
  const missing = missingIn(parts);
  return [...sums]
    .map(([name, { calls, failures, spend, ms }]) => {
      const [p50, p95] = [quantile(ms, 0.5), quantile(ms, 0.95)];
      return {
        name,
        isOpen: circuits.get(name) ?? false,
        calls,
        failures,
        spend: rateToDecimal(spend),
        ...(p50 !== undefined && { p50 }),
        ...(p95 !== undefined && { p95 }),
        missing: missing.get(name) ?? [],
      };
    })
    .sort((one, other) => other.calls - one.calls || (one.name < other.name ? -1 : 1));
}

/** Upstream -> its variables without which some endpoint is not sold. */
function missingIn(parts: ConsoleParts): Map<string, readonly string[]> {
  const wanted = new Set([...parts.missing().values()].flat());
  return new Map(
    [...parts.catalogue().upstreams.values()].map(({ name, keys = {} }) => [
      name,
      Object.values(keys).filter((variable) => wanted.has(variable)),
    ]),
  );
}

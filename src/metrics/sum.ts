/** What several processes have counted, as if one had. */
import { AggregatorRegistry } from 'prom-client';
import type { Snapshot } from './metrics.ts';

const together = (snapshots: readonly Snapshot[]) => AggregatorRegistry.aggregate(snapshots.map((one) => [...one]));

/** Counters and histograms are added up; a gauge is what its `aggregator` picks. */
export const sumOf = (snapshots: readonly Snapshot[]): Promise<Snapshot> => together(snapshots).getMetricsAsJSON();

/** In Prometheus' text format. */
export const textOf = (snapshots: readonly Snapshot[]): Promise<string> => together(snapshots).metrics();

/** What stays true of a process that has ended: without it a sum would fall, which reads as a start from nothing. */
export const countedIn = (snapshot: Snapshot): Snapshot =>
  snapshot.filter(({ type }) => String(type) === 'counter' || String(type) === 'histogram');

import { type Limits, openLimits } from '../../src/limits/limits.ts';
import { createLog } from '../../src/log.ts';
import { createMetrics } from '../../src/metrics/metrics.ts';

const metrics = createMetrics();
const log = createLog('silent');

/** The limits of a gateway whose operator set none. */
export const usualLimits = (now: () => number = Date.now): Limits => openLimits({ file: undefined, metrics, log, now });

import type { Market } from '../../providers/limitless/market.ts';

interface Edge {
  side: 'YES' | 'NO';
  /** What the side is worth more than it costs, in hundredths of a percent of what it pays. */
  bps: number;
}

const toBps = (difference: number): number => Math.round(difference * 10_000);

/** The better side of a market for somebody who believes in a probability of YES; undefined without both prices. */
export function bestEdge(probability: number, { yes_price: yes, no_price: no }: Market): Edge | undefined {
  if (yes === null || no === null) return undefined;
  const [yesBps, noBps] = [toBps(probability - yes), toBps(1 - probability - no)];
  return yesBps >= noBps ? { side: 'YES', bps: yesBps } : { side: 'NO', bps: noBps };
}

export interface EdgeOptions {
  /** Least edge worth acting on, in hundredths of a percent. */
  readonly leastEdgeBps?: number;
}

export const edgeOptions = {
  type: 'object',
  properties: {
    leastEdgeBps: {
      type: 'integer',
      minimum: 1,
      default: 200,
      description: 'Least edge worth acting on, in hundredths of a percent',
    },
  },
} as const;

export const LEAST_EDGE_BPS = 200;

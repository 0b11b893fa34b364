/** Between the two nearest values, in proportion. `part` is from 0 to 1. NaN of no values. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  const place = (sorted.length - 1) * part;
  const at = (index: number) => sorted[index] ?? Number.NaN;
  const below = Math.floor(place);
  return at(below) + (at(Math.ceil(place)) - at(below)) * (place - below);
}

export const median = (values: readonly number[]): number => percentile(values, 0.5);

/** `Accept-Payment` (the `Payment` scheme, draft 01, "Client Payment Preferences"): `tempo/charge, evm/*;q=0.5`. */

interface Range {
  readonly method: string;
  readonly intent: string;
  readonly quality: number;
}

const RANGE = /^([a-z0-9-]+|\*)\/([a-z0-9-]+|\*)\s*(?:;\s*q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?))?$/i;

function parseRanges(header: string): Range[] | undefined {
  const ranges: Range[] = [];
  for (const part of header.split(',')) {
    const match = RANGE.exec(part.trim());
    if (!match) return undefined;
    ranges.push({ method: match[1] ?? '*', intent: match[2] ?? '*', quality: Number(match[3] ?? '1') });
  }
  return ranges;
}

const precision = (range: Range): number => Number(range.method !== '*') + Number(range.intent !== '*');

/** The most precise range decides: `tempo/charge;q=0` wins over a wildcard that allows it. */
function qualityOf(method: string, ranges: readonly Range[]): number {
  const matching = ranges
    .filter((range) => [method, '*'].includes(range.method) && ['charge', '*'].includes(range.intent))
    .sort((left, right) => precision(right) - precision(left) || right.quality - left.quality);
  return matching[0]?.quality ?? 0;
}

/**
 * The charge methods a caller accepts, best first. All of them where the header is missing, malformed or accepts none:
 * a 402 has to carry a challenge.
 */
export function acceptedMethods<M extends { readonly name: string }>(
  methods: readonly M[],
  header: string | string[] | undefined,
): readonly M[] {
  const ranges = header === undefined ? undefined : parseRanges([header].flat().join(','));
  if (!ranges) return methods;
  const ranked = methods
    .map((method) => ({ method, quality: qualityOf(method.name, ranges) }))
    .filter(({ quality }) => quality > 0)
    .sort((left, right) => right.quality - left.quality)
    .map(({ method }) => method);
  return ranked.length === 0 ? methods : ranked;
}

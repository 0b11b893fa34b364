/** What a visitor looks for. */

/** By what an endpoint is found. */
export interface Searched {
  /** In lower case. */
  readonly text: string;
  readonly group: string;
  readonly networks: readonly string[];
  readonly doors: readonly string[];
  /** The least that a call costs, in dollars. */
  readonly price: number;
}

/** Empty strings: whatever it is. */
export interface Filter {
  readonly q: string;
  readonly group: string;
  readonly network: string;
  readonly door: string;
  /** Dollars. */
  readonly max: string;
}

export function readFilter(query: URLSearchParams): Filter {
  const of = (name: keyof Filter): string => (query.get(name) ?? '').trim();
  return { q: of('q'), group: of('group'), network: of('network'), door: of('door'), max: of('max') };
}

const isWithin = (price: number, max: string): boolean => max === '' || !(price > Number(max));

/** Every word has to be in it somewhere. */
export const fits = (searched: Searched, { q, group, network, door, max }: Filter): boolean =>
  q
    .toLowerCase()
    .split(/\s+/)
    .every((word) => searched.text.includes(word)) &&
  (group === '' || searched.group === group) &&
  (network === '' || searched.networks.includes(network)) &&
  (door === '' || searched.doors.includes(door)) &&
  isWithin(searched.price, max);

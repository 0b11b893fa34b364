import type { Overview } from '../figures.ts';
import { read, urlOf } from './api.ts';

/** What the service sells and where, for names to choose from. */
export interface Shop extends Pick<Overview, 'service' | 'mode'> {
  readonly endpoints: readonly string[];
  readonly networks: readonly string[];
}

const MONTH_MS = 30 * 86_400_000;

/** Reads what only who is signed in may: so it also tells whether somebody is. Throws Fault. */
export async function readShop(): Promise<Shop> {
  const to = Date.now();
  const { service, mode, endpoints, networks } = await read<Overview>(urlOf('overview', { from: to - MONTH_MS, to }));
  const names = (slices: Overview['endpoints']): string[] => slices.map(({ name }) => name).sort();
  return { service, mode, endpoints: names(endpoints), networks: names(networks) };
}

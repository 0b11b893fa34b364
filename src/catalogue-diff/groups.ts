import type { Change, Effect } from './change.ts';

/** The changes of all those routes that have the same ones: a fragment that changed is told once. */
export interface Group {
  readonly where: readonly string[];
  /** The worst first. */
  readonly changes: readonly Change[];
}

const ORDER: readonly Effect[] = ['breaks', 'may break', 'price', 'harmless'];

const rank = (changes: readonly Change[]): number => Math.min(...changes.map(({ effect }) => ORDER.indexOf(effect)));

/** The groups with the worst changes first. */
export function groupsOf(changes: readonly Change[]): Group[] {
  const groups = new Map<string, Group>();
  for (const where of new Set(changes.map((change) => change.where))) {
    const own = changes.filter((change) => change.where === where).sort((one, other) => rank([one]) - rank([other]));
    const key = JSON.stringify(own.map(({ where: _, ...change }) => change));
    const known = groups.get(key);
    groups.set(key, { where: [...(known?.where ?? []), where], changes: own });
  }
  return [...groups.values()].sort((one, other) => rank(one.changes) - rank(other.changes));
}

/** `request size: enum loses`; what is priced, beside the effect that says so. */
export const subject = ({ about, what, effect }: Change): string =>
  [effect === 'price' ? '' : about, what].filter((part) => part !== '').join(' ');

/** ` (+20 %)` behind a new price, and nothing where there is no old one to measure by. */
export const share = ({ percent }: Change): string =>
  percent === undefined ? '' : ` (${percent > 0 ? '+' : ''}${percent} %)`;

/** How many changes there are of each sort, in words. */
export function summary(changes: readonly Change[]): string {
  const count = (effect: Effect) => changes.filter((change) => change.effect === effect).length;
  const counted: [number, string, string][] = [
    [count('breaks'), 'breaks callers', 'break callers'],
    [count('may break'), 'may break callers', 'may break callers'],
    [count('price'), 'is a price (USD)', 'are prices (USD)'],
    [count('harmless'), 'harms nobody', 'harm nobody'],
  ];
  const said = counted
    .filter(([number]) => number > 0)
    .map(([number, one, several]) => `${number} ${number === 1 ? one : several}`);
  if (changes.length === 0) return 'nothing changed for buyers';
  return `${changes.length} ${changes.length === 1 ? 'change' : 'changes'}: ${said.join(', ')}`;
}

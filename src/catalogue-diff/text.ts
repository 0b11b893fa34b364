import { withoutControls } from '../control-characters.ts';
import { wrappedRows } from '../wrapped-table.ts';
import type { Change } from './change.ts';
import { groupsOf, share, subject, summary } from './groups.ts';

const WIDTH = 98;
/** Effect, what changed, before and after: with two spaces before and between them no wider than a terminal. */
const COLUMNS = [{ width: 9 }, { width: 40 }, { width: 19 }, { width: 22 }];
const LONGEST = 60;
const NO_BREAK = '\u00a0';

const cut = (value: string): string => (value.length > LONGEST ? `${value.slice(0, LONGEST)}...` : value);

function rowOf(change: Change): string[] {
  const { effect, before, after } = change;
  const isCompared = before !== undefined || after !== undefined;
  const side = (value: string | undefined) => (isCompared ? cut(value ?? '-') : '');
  return [effect, subject(change), side(before), side(after) + share(change)].map(withoutControls);
}

/** For a terminal of 100 columns. */
export function asText(changes: readonly Change[]): string {
  const groups = groupsOf(changes);
  const lines = wrappedRows(
    COLUMNS,
    groups.flatMap((group) => group.changes.map(rowOf)),
  );
  const blocks = groups.map((group) => {
    // A route is not broken after its method.
    const places = group.where.map((where) => where.replaceAll(' ', NO_BREAK)).join(', ');
    const heads = wrappedRows([{ width: WIDTH }], [[places]]).map((line) => line.replaceAll(NO_BREAK, ' '));
    const rows = lines.splice(0, group.changes.length).map((line) => line.replace(/^/gm, '  '));
    return [...heads, ...rows, ''].join('\n');
  });
  return [...blocks, `${summary(changes)}\n`].join('\n');
}

import { withoutControls } from '../control-characters.ts';
import type { Change } from './change.ts';
import { type Group, groupsOf, share, subject, summary } from './groups.ts';

/** As code, so that nothing in it is taken for Markdown, a mention or HTML; a table's cell takes no bare stroke, and no line. */
const code = (value: string): string =>
  `\`${withoutControls(value.replaceAll('`', "'").replaceAll('|', '\\|').replaceAll(/\s+/g, ' '))}\``;

function rowOf(change: Change): string {
  const { effect, before, after } = change;
  const [old, now] = [before, after].map((value) => (value === undefined ? '' : code(value)));
  const mark = effect === 'breaks' ? '**breaks**' : effect;
  return `| ${mark} | ${code(subject(change))} | ${old} | ${now}${share(change)} |`;
}

const table = ({ where, changes }: Group): string =>
  [where.map(code).join(', '), '', '| | | before | after |', '|---|---|---|---|', ...changes.map(rowOf)].join('\n');

/** For a comment on a pull request: what harms nobody is folded. */
export function asMarkdown(changes: readonly Change[], title: string): string {
  const groups = groupsOf(changes);
  const harmless = groups.filter((group) => group.changes.every(({ effect }) => effect === 'harmless'));
  const others = groups.filter((group) => !harmless.includes(group));
  const folded =
    harmless.length === 0 ? [] : ['<details><summary>harmless</summary>', ...harmless.map(table), '</details>'];
  return `${[`### ${title}`, summary(changes), ...others.map(table), ...folded].join('\n\n')}\n`;
}

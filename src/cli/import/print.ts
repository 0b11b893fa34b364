/** What an import did, for people. */
import { join } from 'node:path';
import { withoutControls } from '../../control-characters.ts';
import type { Outcome, Report } from './importer.ts';

/** `directory` is the catalogue as people find it. */
export function printed({ upstream, outcomes, remarks }: Report, directory: string): string {
  const of = (kind: Outcome['kind']) => outcomes.filter((outcome) => outcome.kind === kind);
  const written = of('written');
  const variables = Object.values(upstream.file.keys ?? {});
  const counts = `${outcomes.length} ${outcomes.length === 1 ? 'operation' : 'operations'}: ${written.length} written, ${of('there already').length} there already, ${of('left out').length} left out`;
  const next = [
    'npm run codegen',
    'npm start',
    ...(variables.length > 0 ? [`live mode needs ${variables.join(' ')}`] : []),
  ];
  return [
    ...section('written', [
      ...(upstream.isNew && written.length > 0
        ? [`${join(directory, 'upstreams.yaml')}: ${upstream.name}, ${upstream.file.baseUrl}`]
        : []),
      ...written.map(({ file, title }) => `${join(directory, file)}: ${title}`),
    ]),
    ...section('not carried over', written.filter(({ notes }) => notes.length > 0).flatMap(lines)),
    ...section('there already, and left as they are', of('there already').flatMap(lines)),
    ...section('left out', of('left out').flatMap(lines)),
    ...section('of the document', remarks),
    counts,
    ...(written.length > 0 ? [`next: ${next.join('; ')}`] : []),
    '',
  ].join('\n');
}

/** A line each, whatever whoever wrote the document has put into it. */
const section = (title: string, entries: readonly string[]): string[] =>
  entries.length === 0 ? [] : [`${title}:`, ...entries.map((entry) => `  ${withoutControls(entry)}`), ''];

const lines = ({ name, title, notes }: Outcome): string[] =>
  notes.length === 1
    ? [`${name} (${title}): ${notes[0]}`]
    : [`${name} (${title})`, ...notes.map((note) => `  ${note}`)];

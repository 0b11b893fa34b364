/** Adds files to a catalogue, none of which may spoil it. */
import { constants, copyFileSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import type { CheckedCatalogue } from '../../catalogue/checked.ts';
import type { CatalogueParts } from '../../catalogue/contracts.ts';
import { checkCatalogue } from '../../catalogue/load.ts';
import { type Diagnostic, formatDiagnostic } from '../../catalogue/yaml/diagnostic.ts';
import { makeDirectory } from '../../made-directory.ts';
import { UsageProblem } from '../command-line.ts';
import { withUpstream } from './yaml.ts';

export interface Addition {
  /** Undefined where it is there already. */
  readonly upstream: { readonly name: string; readonly entry: object } | undefined;
  /** Path below the catalogue -> text. None of them is there yet. */
  readonly files: ReadonlyMap<string, string>;
}

/**
 * Writes what passes the catalogue's own check, tried on a copy. Gives the files that did not pass, with what the check
 * says of them. Throws UsageProblem where the upstream is refused.
 */
export function addToCatalogue(
  directory: string,
  { upstream, files }: Addition,
  parts: CatalogueParts,
  checked: CheckedCatalogue,
): ReadonlyMap<string, readonly string[]> {
  if (files.size === 0) return new Map();
  const copy = mkdtempSync(join(tmpdir(), 'turnpike-import-'));
  try {
    cpSync(directory, copy, { recursive: true });
    const settings = 'upstreams.yaml';
    const before = readFileSync(join(copy, settings), 'utf8');
    const after = upstream ? withUpstream(before, upstream.name, upstream.entry) : before;
    writeFileSync(join(copy, settings), after);
    for (const [file, text] of files) write(join(copy, file), text);
    const refused = removeRefused(copy, files, parts, checked);
    const kept = [...files.keys()].filter((file) => !refused.has(file));
    if (kept.length > 0 && upstream) writeFileSync(join(directory, settings), after);
    for (const file of kept) {
      makeDirectory(dirname(join(directory, file)));
      copyFileSync(join(copy, file), join(directory, file), constants.COPYFILE_EXCL);
    }
    return refused;
  } finally {
    rmSync(copy, { recursive: true });
  }
}

function write(path: string, text: string): void {
  makeDirectory(dirname(path));
  writeFileSync(path, text, { flag: 'wx' });
}

/** Removes the files that the check finds fault with, until it finds none. */
function removeRefused(
  copy: string,
  files: Addition['files'],
  parts: CatalogueParts,
  checked: CheckedCatalogue,
): Map<string, string[]> {
  const refused = new Map<string, string[]>();
  const nameOf = ({ file }: Diagnostic) => relative(copy, file);
  for (;;) {
    const { diagnostics } = checkCatalogue(copy, parts, checked);
    if (diagnostics.length === 0) return refused;
    const wrong = diagnostics.filter((diagnostic) => files.has(nameOf(diagnostic)) && existsSync(diagnostic.file));
    if (wrong.length === 0) {
      const found = diagnostics.map((diagnostic) => formatDiagnostic({ ...diagnostic, file: nameOf(diagnostic) }));
      throw new UsageProblem(`nothing was imported:\n${found.join('\n')}`);
    }
    for (const diagnostic of wrong) {
      const file = nameOf(diagnostic);
      const { line, message, expected } = diagnostic;
      const text = `line ${line}: ${message}${expected === undefined ? '' : `; ${expected}`}`;
      refused.set(file, [...(refused.get(file) ?? []), text]);
    }
    for (const file of refused.keys()) rmSync(join(copy, file), { force: true });
  }
}

import { withoutControls } from '../../control-characters.ts';

/** One mistake in the catalogue, where it is, and what would be right. Lines and columns count from 1. */
export interface Diagnostic {
  /** Relative to the working directory. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
  /** What would be right. */
  readonly expected: string | undefined;
}

/** `catalogue/endpoints/a/b.yaml:3:9: what is wrong; what would be right`: one line, whatever a file has in it. */
export function formatDiagnostic(diagnostic: Diagnostic): string {
  const { file, line, column, message, expected } = diagnostic;
  return withoutControls(`${file}:${line}:${column}: ${message}${expected === undefined ? '' : `; ${expected}`}`);
}

/** The order of reading: by file, then by line and column. */
export function compareDiagnostics(left: Diagnostic, right: Diagnostic): number {
  if (left.file !== right.file) return left.file < right.file ? -1 : 1;
  return left.line - right.line || left.column - right.column;
}

/** A catalogue that cannot be used. The message lists every mistake. */
export class CatalogueErrors extends Error {
  readonly diagnostics: readonly Diagnostic[];
  constructor(diagnostics: readonly Diagnostic[]) {
    super(diagnostics.map(formatDiagnostic).join('\n'));
    this.name = 'CatalogueErrors';
    this.diagnostics = diagnostics;
  }
}

/** What `read` gives, or the mistakes for which it gives nothing. */
export function orErrors<Read>(read: () => Read): Read | CatalogueErrors {
  try {
    return read();
  } catch (error) {
    if (error instanceof CatalogueErrors) return error;
    throw error;
  }
}

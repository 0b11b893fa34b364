/** Commands in Markdown that a reader can paste into a POSIX shell as they stand. */

/** In single quotes. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** A fenced block: unlike an indented one it can hold here-documents, whose end has to be at the beginning of a line. */
export const shellBlock = (...lines: readonly string[]): string[] => ['```sh', ...lines, '```'];

/** Runs a module with the packages of the directory that it is pasted in. */
export const nodeProgram = (lines: readonly string[]): string[] => [
  "node --input-type=module <<'END'",
  ...lines,
  'END',
];

/** The same in Python. */
export const pythonProgram = (lines: readonly string[]): string[] => ["python3 - <<'END'", ...lines, 'END'];

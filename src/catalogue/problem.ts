/** One mistake in the catalogue, where it is, and what would be right. Lines and columns count from 1. */
export interface CatalogueProblem {
  /** Relative to the working directory. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
  /** What would be right. */
  readonly expected: string | undefined;
}

/** `catalogue/endpoints/a/b.yaml:3:9: what is wrong; what would be right`. */
export function formatProblem(problem: CatalogueProblem): string {
  const { file, line, column, message, expected } = problem;
  return `${file}:${line}:${column}: ${message}${expected === undefined ? '' : `; ${expected}`}`;
}

/** The order of reading: by file, then by line and column. */
export function compareProblems(left: CatalogueProblem, right: CatalogueProblem): number {
  if (left.file !== right.file) return left.file < right.file ? -1 : 1;
  return left.line - right.line || left.column - right.column;
}

/** A catalogue that cannot be used. The message lists every problem. */
export class CatalogueErrors extends Error {
  readonly problems: readonly CatalogueProblem[];
  constructor(problems: readonly CatalogueProblem[]) {
    super(problems.map(formatProblem).join('\n'));
    this.name = 'CatalogueErrors';
    this.problems = problems;
  }
}

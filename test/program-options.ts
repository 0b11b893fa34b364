import { readCommandLine, UsageProblem } from '../src/cli/command-line.ts';

type Options = Parameters<typeof readCommandLine>[1];

/** What is said behind the name of a program that is run by itself. Ends the process at `--help`, and where it takes no such word. */
export function programOptions<const Known extends Options>(usage: string, options: Known) {
  try {
    return readCommandLine(usage, options, process.argv.slice(2)).values;
  } catch (error) {
    if (error instanceof UsageProblem) misused(error.message);
    throw error;
  }
}

/** Ends the process, with what would be right. */
export function misused(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}

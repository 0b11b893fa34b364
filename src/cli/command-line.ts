/** What every command does with the words behind its name. */
import { type ParseArgsConfig, parseArgs } from 'node:util';

/** A fault in the command line; the message says what would be right. */
export class UsageProblem extends Error {}

type Options = NonNullable<ParseArgsConfig['options']>;
type Read<Known extends Options, Operands extends boolean> = ReturnType<
  typeof parseArgs<{ args: string[]; allowPositionals: Operands; options: Known & typeof HELP }>
>;

const HELP = { help: { type: 'boolean', short: 'h' } } as const;

/** `--help` prints the usage and ends the process well. Throws UsageProblem for words that the command does not take. */
export function readCommandLine<const Known extends Options>(
  usage: string,
  options: Known,
  words: readonly string[],
): Read<Known, false> {
  return read(usage, { options, allowPositionals: false } as const, words);
}

/** The same for a command that takes words which are no options. */
export function readOperands<const Known extends Options>(
  usage: string,
  options: Known,
  words: readonly string[],
): Read<Known, true> {
  return read(usage, { options, allowPositionals: true } as const, words);
}

function read<Known extends Options, Operands extends boolean>(
  usage: string,
  { options, allowPositionals }: { options: Known; allowPositionals: Operands },
  words: readonly string[],
): Read<Known, Operands> {
  if (words.includes('--help') || words.includes('-h')) {
    process.stdout.write(`${usage}\n`);
    process.exit(0);
  }
  try {
    return parseArgs({ args: [...words], allowPositionals, options: { ...options, ...HELP } });
  } catch (error) {
    throw new UsageProblem(`${error instanceof Error ? error.message : 'unreadable arguments'}\n\n${usage}`);
  }
}

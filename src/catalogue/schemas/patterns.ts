/** Regular expressions in schemas: they run on what anybody sends, before anything is paid. */
import { createRequire } from 'node:module';
import harmless from '../../../generated/patterns.json' with { type: 'json' };
import type { CheckedCatalogue } from '../checked.ts';

interface Search {
  readonly status: 'safe' | 'vulnerable' | 'unknown';
  readonly complexity?: { readonly type: string; readonly degree?: number };
}

type Recheck = { checkSync(source: string, flags: string, options: typeof LIMITS): Search };

interface PatternFault {
  readonly message: string;
  readonly expected: string;
}

/**
 * Those of the catalogue take up to three seconds. Within a search only steps are counted: by the clock, a match that a busy
 * machine was slow at counted as one that backtracks.
 */
const LIMITS = { timeout: 20_000, seedingTimeout: null, incubationTimeout: null, attackTimeout: null };

const require = createRequire(import.meta.url);
const searched: ReadonlySet<string> = new Set(harmless);

/** What this process found: a document may have one pattern in each of a thousand operations, and each try asks again. */
const refused = new Map<string, PatternFault>();

/**
 * What is wrong with a pattern, or undefined. Searching one for catastrophic backtracking takes up to seconds and a
 * development package, so it is done once: `npm run codegen` lists what it found harmless in `generated/patterns.json`,
 * and `checked` remembers the rest.
 */
export function patternFault(pattern: string, checked: CheckedCatalogue): PatternFault | undefined {
  try {
    new RegExp(pattern, 'u');
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^Invalid regular expression: .*: /, '') : '';
    return { message: `not a regular expression: ${reason}`, expected: 'write one that JavaScript takes' };
  }
  const key = { pattern };
  if (searched.has(pattern) || checked.has(key, undefined)) return undefined;
  const fault = refused.get(pattern) ?? backtrackingFault(pattern);
  if (fault) refused.set(pattern, fault);
  else checked.add(key, undefined);
  return fault;
}

/** Searches in any case. Source: `recheck` 4.5.0. Its `unknown` is refused as well: nobody has shown that the pattern is harmless. */
export function backtrackingFault(pattern: string): PatternFault | undefined {
  const recheck = loadRecheck();
  if (!recheck) {
    return {
      message: 'the pattern was never searched for catastrophic backtracking',
      expected: 'run npm run codegen where the development packages are installed',
    };
  }
  const { status, complexity } = recheck.checkSync(pattern, 'u', LIMITS);
  if (status === 'safe') return undefined;
  const expected = 'write it so that no text can be matched in two ways';
  if (status === 'unknown') return { message: 'the pattern could not be shown to be quick on every text', expected };
  const growth =
    complexity?.type === 'polynomial' ? `its length to the power of ${complexity.degree}` : 'its length exponentially';
  return { message: `the pattern backtracks catastrophically: the time for a text grows with ${growth}`, expected };
}

function loadRecheck(): Recheck | undefined {
  try {
    return require('recheck') as Recheck;
  } catch {
    return undefined;
  }
}

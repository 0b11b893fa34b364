/** Kinds of content came with revisions: clients of earlier ones throw a whole result away for a block of a kind that they do not know. */
import type { CallToolResult } from '@modelcontextprotocol/server';

/** Those that were not there from the beginning. Source: the changelogs of the revisions. */
const SINCE: Readonly<Record<string, string>> = { audio: '2025-03-26', resource_link: '2025-06-18' };

/** Who says no revision over HTTP is of before those that have it said. Source: revision 2025-06-18, "Transports". */
const UNSAID = '2025-03-26';

/** A result as a client of a revision, and the model behind it, can read it: what is left out, the answer itself names. */
export const inKnownContent = (
  result: CallToolResult,
  { revision = UNSAID, textAlone = false }: { revision: string | undefined; textAlone?: boolean },
): CallToolResult => ({
  ...result,
  content: result.content.filter(({ type }) => (textAlone ? type === 'text' : (SINCE[type] ?? '') <= revision)),
});

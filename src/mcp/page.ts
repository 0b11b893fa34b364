import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';

/** As many as most catalogues sell, so that clients that know of no pages miss nothing. */
const PAGE = 100;

/** The page that a cursor of ours names; the first without one. Throws ProtocolError for any other cursor. */
export function pageOf<Item>(items: readonly Item[], cursor: string | undefined) {
  const start = cursor === undefined ? 0 : Number(cursor);
  if (!Number.isInteger(start) || start < 0 || start > items.length) {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'cursor is none of ours: begin without one');
  }
  const end = start + PAGE;
  return { items: items.slice(start, end), nextCursor: end < items.length ? String(end) : undefined };
}

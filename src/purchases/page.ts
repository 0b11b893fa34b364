/** Which part of a long list is asked for. */
import { Problem } from '../errors.ts';
import type { Payment } from '../store/store.ts';

export interface PageRequest {
  /** 1 to 100; default 20. */
  readonly limit?: number | undefined;
  /** `next` of the page before. */
  readonly before?: string | undefined;
}

type Place = Pick<Payment, 'createdAt' | 'id'>;

const MOST = 100;
const USUAL = 20;
const LONGEST_PLACE = 1_024;

const refused = (path: string, message: string, expected: string): Problem =>
  new Problem('invalid_request', `${path.slice(1)} ${message}: give ${expected}`, {
    details: [{ path, message, expected }],
  });

export const pageAfter = ({ createdAt, id }: Place): string => Buffer.from(`${createdAt} ${id}`).toString('base64url');

function readPlace(text: string): Place {
  const decoded = text.length <= LONGEST_PLACE ? Buffer.from(text, 'base64url').toString() : '';
  const [, createdAt, id] = /^(\d{1,15}) ([\x20-\x7e]+)$/.exec(decoded) ?? [];
  if (createdAt === undefined || id === undefined)
    throw refused('/before', 'is no place in the list', '`next` of a page');
  return { createdAt: Number(createdAt), id };
}

/** Throws Problem `invalid_request`. */
export function readPage({ limit = USUAL, before }: PageRequest): { limit: number; before: Place | undefined } {
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST) {
    throw refused('/limit', 'is not taken', `a whole number from 1 to ${MOST}`);
  }
  return { limit, before: before === undefined ? undefined : readPlace(before) };
}

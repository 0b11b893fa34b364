/** W3C Trace Context: what is taken of a caller's `traceparent`, and what an upstream is given of it. */
import { randomBytes } from 'node:crypto';

export interface Trace {
  /** 32 hex digits. */
  readonly id: string;
  readonly isSampled: boolean;
}

const PARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})(-.*)?$/;

/** Undefined for a header that is missing or not well-formed. Later versions may say more at the end. */
export function readTrace(header: string | readonly string[] | undefined): Trace | undefined {
  if (typeof header !== 'string') return undefined;
  const [, version, id, flags, more] = PARENT.exec(header) ?? [];
  if (id === undefined || flags === undefined || (version === '00' && more !== undefined)) return undefined;
  return { id, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** The header for a request of our own, which is a span of its own. */
export const traceparentOf = ({ id, isSampled }: Trace): string =>
  `00-${id}-${randomBytes(8).toString('hex')}-${isSampled ? '01' : '00'}`;

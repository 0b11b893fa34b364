import type { UpstreamResponse } from './upstream-http.ts';

const CHARSET = /;\s*charset="?([^\s;"]+)/i;

/** The characters that an answer's type names. */
export const charsetOf = ({ headers }: Pick<UpstreamResponse, 'headers'>): string | undefined =>
  CHARSET.exec(headers['content-type'] ?? '')?.[1];

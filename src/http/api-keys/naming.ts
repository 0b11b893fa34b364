/** `Idempotency-Key`: how a caller names a call, so that it can be sent again and is made, and charged, once. */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { ApiKey, NamedCall } from '../../store/credits/credit-store.ts';

/** As long as other kept values: see `keeping.ts`. */
const KEPT_MS = 86_400_000;

/** Undefined where the call has no name. Nobody reads what was answered to another key. */
export function nameOf(
  { id }: Pick<ApiKey, 'id'>,
  body: Buffer,
  { 'idempotency-key': given }: IncomingHttpHeaders,
  now: number,
): NamedCall | undefined {
  if (typeof given !== 'string' || given === '') return undefined;
  return { name: digestOf(JSON.stringify([id, given])), digest: digestOf(body), since: now - KEPT_MS };
}

const digestOf = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex');

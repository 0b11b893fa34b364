/** `Idempotency-Key`: how a caller names a call, so that it can be sent again and is made, and charged, once. */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { KEY_KEPT_MS } from '../../payment/idempotency.ts';
import type { ApiKey, NamedCall } from '../../store/credits/credit-store.ts';
import { openTurnsByName } from '../../turns.ts';
import { ApiKeyProblem } from './problems.ts';

/** Undefined where the call has no name. Nobody reads what was answered to another key. */
export function nameOf(
  { id }: Pick<ApiKey, 'id'>,
  body: Buffer,
  { 'idempotency-key': given }: IncomingHttpHeaders,
  now: number,
): NamedCall | undefined {
  if (typeof given !== 'string' || given === '') return undefined;
  return { name: digestOf(JSON.stringify([id, given])), digest: digestOf(body), since: now - KEY_KEPT_MS };
}

const digestOf = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex');

export const inProgress = (): ApiKeyProblem =>
  new ApiKeyProblem(
    'call_in_progress',
    'A call with this Idempotency-Key has not ended: send the same again in a moment, it is charged once',
    { headers: { 'retry-after': '5' } },
  );

/**
 * Has calls of one name made one after the other, so that one alone asks the database again and again while another instance
 * works on it. Throws ApiKeyProblem `call_in_progress` where those before it took longer than `waitMs`.
 */
export function turnsByName(waitMs: number) {
  const inTurn = openTurnsByName();
  return async <Result>(name: string, call: () => Promise<Result>): Promise<Result> => {
    const late = AbortSignal.timeout(waitMs);
    return await inTurn(name, call, late).catch((error: unknown) => {
      throw error === late.reason ? inProgress() : error;
    });
  };
}

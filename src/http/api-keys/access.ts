/** Whose key a request shows, and what the key's owner allows. */
import type { IncomingHttpHeaders } from 'node:http';
import type { ApiKeys } from '../../credits/api-keys.ts';
import { toDecimal } from '../../money.ts';
import type { ApiKey } from '../../store/credits/credit-store.ts';
import { ApiKeyProblem } from './problems.ts';
import { type ChatCall, cheaper } from './request.ts';

const challenge = { 'www-authenticate': 'Bearer' };

/** The key that the request shows, in clear. */
export const shownKey = ({ authorization }: IncomingHttpHeaders): string | undefined =>
  /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];

/** What is known of the key that the request shows. Throws ApiKeyProblem `invalid_api_key`; the message never repeats the key. */
export async function keyOf(
  headers: IncomingHttpHeaders,
  apiKeys: Pick<ApiKeys, 'find'>,
  { now, creditsUrl }: { now: number; creditsUrl: string | undefined },
): Promise<ApiKey> {
  const shown = shownKey(headers);
  if (shown === undefined) {
    const where = creditsUrl === undefined ? '' : `. POST ${creditsUrl} sells one`;
    const message = `No API key: send it as Authorization: Bearer <key>${where}`;
    throw new ApiKeyProblem('invalid_api_key', message, { headers: challenge });
  }
  const key = await apiKeys.find(shown);
  if (!key) throw new ApiKeyProblem('invalid_api_key', 'The API key is not known here', { headers: challenge });
  if (key.disabledAt !== undefined) {
    throw new ApiKeyProblem('invalid_api_key', `The API key ${key.shown}... is disabled`, { headers: challenge });
  }
  if (key.expiresAt !== undefined && key.expiresAt <= now) {
    throw new ApiKeyProblem('invalid_api_key', `The API key ${key.shown}... has expired`, { headers: challenge });
  }
  return key;
}

/** Throws ApiKeyProblem where the key is not for this call. What it may spend in a day is checked with the hold. */
export function checkLimits({ limits }: ApiKey, call: ChatCall): void {
  const { model, bound } = call;
  if (limits.models && !limits.models.includes(model.name)) {
    const message = `The API key is not for ${model.name}: it takes ${limits.models.join(', ')}`;
    throw new ApiKeyProblem('model_not_allowed', message, { param: 'model' });
  }
  if (limits.perCall === undefined || bound <= limits.perCall) return;
  const most = `${toDecimal(limits.perCall)} USD`;
  const allowed = `the API key allows ${most} for one: ${cheaper(call, limits.perCall)}`;
  const message = `The call may cost ${toDecimal(bound)} USD, and ${allowed}`;
  throw new ApiKeyProblem('call_limit_exceeded', message, { param: 'max_tokens' });
}

/** Who is let in at a provider that has no double of its own: requests that carry every key, or a token that was given for them. */
import type { Upstream } from '../../catalogue/types.ts';
import { DOUBLE_TOKEN_PATH } from '../../upstream/http/client.ts';
import { tokenRequest, tokenSecretsIn } from '../../upstream/providers/http/authorization.ts';
import { type Double, type DoubleAnswer, type DoubleRequest, jsonAnswer, sandboxSecret } from './double.ts';

interface Door {
  readonly unauthorized: NonNullable<Double['unauthorized']>;
  /** What a request for a token is answered; undefined for any other request. */
  tokenFor(request: DoubleRequest): DoubleAnswer | undefined;
}

export function openDoor({ name, keys = {}, settings = {} }: Upstream): Door {
  const secrets = Object.fromEntries(Object.entries(keys).map(([key, variable]) => [key, sandboxSecret(variable)]));
  const url = tokenRequest(secrets, settings)?.url;
  const tokenPath = url?.startsWith('/') ? url : DOUBLE_TOKEN_PATH;
  const ofTokens = url === undefined ? [] : tokenSecretsIn(settings);
  const withCalls = Object.keys(secrets).filter((key) => !ofTokens.includes(key));
  const token = sandboxSecret(`${name}-token`);
  const valuesOf = (names: readonly string[]): string[] => names.map((key) => secrets[key] ?? '');
  const isForToken = ({ path }: DoubleRequest): boolean => url !== undefined && path === tokenPath;
  return {
    unauthorized(request) {
      const wanted = isForToken(request)
        ? valuesOf(ofTokens)
        : [...valuesOf(withCalls), ...(url === undefined ? [] : [token])];
      if (wanted.every((secret) => carries(request, secret))) return undefined;
      return jsonAnswer(401, { error: 'no valid key' });
    },
    tokenFor: (request) =>
      isForToken(request)
        ? jsonAnswer(200, { access_token: token, token_type: 'bearer', expires_in: 3600 })
        : undefined,
  };
}

/** Wherever the provider wants it. */
function carries({ headers, query, path, body }: DoubleRequest, secret: string): boolean {
  const { authorization = '' } = headers;
  const basic = authorization.startsWith('Basic ') ? Buffer.from(authorization.slice(6), 'base64').toString() : '';
  const isForm = headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true;
  const form = isForm ? [...new URLSearchParams(body.toString()).values()] : [];
  const places = [...Object.values(headers).flat(), ...query.values(), path, basic, ...form];
  return places.some((value) => value?.includes(secret));
}

/** Who is let in at a provider that has no double of its own: requests that carry every key, are signed by it, or carry a token that was given for it. */
import { createHmac } from 'node:crypto';
import type { Upstream } from '../../catalogue/types.ts';
import { DOUBLE_TOKEN_PATH } from '../../upstream/http/client.ts';
import { tokenRequest, tokenSecretsIn } from '../../upstream/providers/http/authorization.ts';
import { awsSignature } from '../../upstream/providers/http/aws-signature.ts';
import { type Double, type DoubleAnswer, type DoubleRequest, jsonAnswer, sandboxSecret } from './double.ts';

interface Door {
  readonly unauthorized: NonNullable<Double['unauthorized']>;
  /** What a request for a token is answered; undefined for any other request. */
  tokenFor(request: DoubleRequest): DoubleAnswer | undefined;
}

export function openDoor({ name, keys = {}, settings = {} }: Upstream): Door {
  const secrets = Object.fromEntries(Object.entries(keys).map(([key, variable]) => [key, sandboxSecret(variable)]));
  const valuesOf = (names: readonly string[]): string[] => names.map((key) => secrets[key] ?? '');
  const wanted = tokenRequest(secrets, settings);
  const url = wanted && 'url' in wanted ? wanted.url : undefined;
  const tokenPath = url?.startsWith('/') ? url : DOUBLE_TOKEN_PATH;
  const givenForTokens = tokenSecretsIn(settings);
  const ofTokens = valuesOf(givenForTokens);
  const withCalls = valuesOf(Object.keys(secrets).filter((key) => !givenForTokens.includes(key)));
  const token = sandboxSecret(`${name}-token`);
  const isForToken = ({ path }: DoubleRequest): boolean => url !== undefined && path === tokenPath;
  return {
    unauthorized(request) {
      const ofCall = [...withCalls, ...(url === undefined ? ofTokens : [token])];
      const isLetIn = carriesAll(request, isForToken(request) ? ofTokens : ofCall);
      return isLetIn ? undefined : jsonAnswer(401, { error: 'no valid key' });
    },
    tokenFor: (request) =>
      isForToken(request)
        ? jsonAnswer(200, { access_token: token, token_type: 'bearer', expires_in: 3600 })
        : undefined,
  };
}

/** Wherever the provider wants each. */
function carriesAll(request: DoubleRequest, secrets: readonly string[]): boolean {
  const { headers, query, path, body } = request;
  const { authorization = '' } = headers;
  const basic = authorization.startsWith('Basic ') ? Buffer.from(authorization.slice(6), 'base64').toString() : '';
  const isForm = headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true;
  const form = isForm ? new URLSearchParams(body.toString()) : new URLSearchParams();
  const signed = authorization.startsWith('Bearer ') ? authorization.slice(7) : (form.get('assertion') ?? '');
  const places = [...Object.values(headers).flat(), ...query.values(), path, basic, ...form.values(), saidBy(signed)];
  const isCarried = (secret: string): boolean => places.some((place) => place?.includes(secret));
  return secrets.every(
    (secret) => isCarried(secret) || isSignedBy(signed, secret) || isAwsRequestOf(request, authorization, secret),
  );
}

/** The header and the claims of a signed token, as text. */
const saidBy = (token: string): string =>
  token
    .split('.', 2)
    .map((part) => Buffer.from(part, 'base64url').toString())
    .join('');

/** In the sandbox all are signed by HS256. */
function isSignedBy(token: string, secret: string): boolean {
  const end = token.lastIndexOf('.');
  return createHmac('sha256', secret).update(token.slice(0, end)).digest('base64url') === token.slice(end + 1);
}

const AWS_SIGNATURE =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/\d+\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([^,]+),/;

function isAwsRequestOf(request: DoubleRequest, authorization: string, secret: string): boolean {
  const [, accessKeyId = '', region = '', service = '', names = ''] = AWS_SIGNATURE.exec(authorization) ?? [];
  if (names === '') return false;
  const { method, target, headers, body } = request;
  const covered = Object.fromEntries(names.split(';').map((name) => [name, String(headers[name])]));
  const bytes = body.length > 0 ? body : undefined;
  const signable = { method, host: headers.host ?? '', path: target, headers: covered, bytes };
  const asItShouldBe = awsSignature(signable, { service, region }, { accessKeyId, secretAccessKey: secret });
  return asItShouldBe.headers.authorization === authorization;
}

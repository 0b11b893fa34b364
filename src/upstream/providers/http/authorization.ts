/** How an upstream without an adapter of its own wants to be told who calls. */
import type { AdapterDeclaration } from '../../../catalogue/contracts.ts';
import { parseDuration } from '../../../catalogue/duration.ts';
import type { SignedToken } from '../../http/signed-token.ts';
import type { AskForToken, Authorization, Authorize, Signable } from '../../http/upstream-http.ts';
import { awsSignature } from './aws-signature.ts';
import { type AwsWay, type HttpSettings, type SigningWay, type TokenWay, USUAL_LIFE, type Way } from './settings.ts';

/** What `assertion` is sent as (RFC 7523, section 2.1). */
const BY_ASSERTION = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

const NAMES = /\{([A-Za-z0-9_]+)\}/g;

const filled = (text: string, secrets: Readonly<Record<string, string>>): string =>
  text.replaceAll(NAMES, (_whole, secret: string) => secrets[secret] ?? '');

/** As it stands in a path: what could end its part of it is written otherwise. */
const inPath = (secrets: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(secrets).map(([secret, value]) => [secret, encodeURIComponent(value).replaceAll('%3A', ':')]),
  );

/** As it stands in a form: so id and secret are written before they are put together (RFC 6749, section 2.3.1). */
const inForm = (secrets: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(secrets).map(([secret, value]) => [secret, new URLSearchParams([['', value]]).toString().slice(1)]),
  );

const basicValue = (text: string, secrets: Readonly<Record<string, string>>): string =>
  Buffer.from(filled(text, secrets)).toString('base64');

const isList = (wanted: Way | readonly Way[]): wanted is readonly Way[] => Array.isArray(wanted);

const waysOf = ({ authorize: wanted }: HttpSettings): readonly Way[] =>
  typeof wanted !== 'object' ? [] : isList(wanted) ? wanted : [wanted];

/** The names of the keys that the settings speak of. */
export function secretsIn(settings: HttpSettings): string[] {
  return waysOf(settings).flatMap(secretsOf);
}

function secretsOf(way: Way): string[] {
  if ('bearer' in way) return [way.bearer];
  if ('aws' in way) return [way.id, way.key, ...(way.session === undefined ? [] : [way.session])];
  if ('jwt' in way) return [way.key, ...[way.claims, way.header].flatMap((said = {}) => namesIn(Object.values(said)))];
  if ('oauth' in way) {
    const { client = '', fields = {}, assertion } = way;
    return [...namesIn([client, ...Object.values(fields)]), ...(assertion ? secretsOf(assertion) : [])];
  }
  return namesIn(['basic' in way ? way.basic : 'path' in way ? way.path : way.value]);
}

const namesIn = (texts: readonly unknown[]): string[] =>
  texts.flatMap((text) => [...String(text).matchAll(NAMES)].map(([, secret = '']) => secret));

/** Where a way sends what says who calls, as an operator reads it. */
function placeOf(way: Way): string {
  if ('value' in way)
    return 'query' in way ? `the query parameter ${way.query}` : `the header ${way.header.toLowerCase()}`;
  return 'path' in way ? 'the path' : 'the header authorization';
}

/** Of two ways to one place, the last alone would be sent; and what is signed is sent as it was signed. */
export const checkSettings: NonNullable<AdapterDeclaration['checkSettings']> = (settings: HttpSettings) => {
  const ways = waysOf(settings);
  const places = ways.map(placeOf);
  const isSigned = ways.some((way) => 'aws' in way);
  return ways.flatMap((way, index) => {
    const place = places[index] ?? '';
    const isFilled = places.indexOf(place) !== index;
    const wrong = isFilled
      ? `${place} is filled already`
      : isSigned && ('query' in way || 'path' in way) && `${place} is signed, and a key would be put there after that`;
    return wrong ? [{ path: ['authorize', index], message: wrong, expected: 'leave one of the two out' }] : [];
  });
};

const tokenWayIn = (settings: HttpSettings): TokenWay | SigningWay | undefined =>
  waysOf(settings).find((way): way is TokenWay | SigningWay => 'oauth' in way || 'jwt' in way);

/** The names of the keys that are given for a token, or sign one, and are sent with no call. */
export const tokenSecretsIn = (settings: HttpSettings): string[] => {
  const way = tokenWayIn(settings);
  return way ? secretsOf(way) : [];
};

function signedBy(
  { jwt, key, claims = {}, header = {}, lasts = USUAL_LIFE }: SigningWay,
  secrets: Readonly<Record<string, string>>,
): SignedToken {
  const withKeys = (values: object) =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, typeof value === 'string' ? filled(value, secrets) : value]),
    );
  return {
    algorithm: jwt,
    key: secrets[key] ?? '',
    claims: withKeys(claims),
    header: withKeys(header),
    lastsSeconds: (parseDuration(lasts) ?? 0) / 1000,
  };
}

/** How a token is had; undefined where none is needed. */
export const tokenRequest: AskForToken = (secrets, settings) => {
  const way = tokenWayIn(settings);
  if (!way) return undefined;
  if ('jwt' in way) return signedBy(way, secrets);
  const { oauth, client, fields = {}, assertion } = way;
  const given = Object.entries(fields).map(([name, text]) => [name, filled(text, secrets)]);
  return {
    url: oauth,
    headers: { ...(client !== undefined && { authorization: `Basic ${basicValue(client, inForm(secrets))}` }) },
    fields: { grant_type: assertion ? BY_ASSERTION : 'client_credentials', ...Object.fromEntries(given) },
    assertion: assertion && signedBy(assertion, secrets),
  };
};

/** What stands before the path of each call; undefined: nothing. */
export function prefixIn(settings: HttpSettings, secrets: Readonly<Record<string, string>>): string | undefined {
  const found = waysOf(settings).find((way) => 'path' in way);
  return found && filled(found.path, inPath(secrets));
}

/** Headers' names in small letters. What stands in the path is no part of it. */
function sentBy(way: Way, secrets: Readonly<Record<string, string>>): Authorization {
  if ('bearer' in way) return { headers: { authorization: `Bearer ${secrets[way.bearer]}` } };
  if ('basic' in way) return { headers: { authorization: `Basic ${basicValue(way.basic, secrets)}` } };
  if ('path' in way || 'oauth' in way || 'jwt' in way || 'aws' in way) return {};
  const value = filled(way.value, secrets);
  return 'header' in way ? { headers: { [way.header.toLowerCase()]: value } } : { query: { [way.query]: value } };
}

function signatureBy(way: AwsWay, request: Signable, secrets: Readonly<Record<string, string>>) {
  const { aws: service, region, id, key, session } = way;
  return awsSignature(
    request,
    { service, region },
    {
      accessKeyId: secrets[id] ?? '',
      secretAccessKey: secrets[key] ?? '',
      sessionToken: session && secrets[session],
    },
  );
}

export const authorize: Authorize = (request, secrets, settings) => {
  const { headers: given = {} }: HttpSettings = settings;
  // In the letters of the gateway's own, whose place they take: of two of one name many servers hear the first.
  const own = Object.fromEntries(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value]));
  const sent = waysOf(settings).map((way) => sentBy(way, secrets));
  const headers = Object.assign(own, ...sent.map((by) => by.headers));
  const aws = waysOf(settings).find((way): way is AwsWay => 'aws' in way);
  const signature = aws && signatureBy(aws, { ...request, headers: { ...request.headers, ...headers } }, secrets);
  return {
    headers: Object.assign(headers, signature?.headers),
    path: signature?.path,
    query: Object.assign({}, ...sent.map(({ query }) => query)),
    prefix: prefixIn(settings, secrets),
  };
};

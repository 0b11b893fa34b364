/** Who calls: security schemes of a document as what the adapter `http` can send. */
import { asJsonObject, asJsonObjects, type JsonObject } from '../../json.ts';
import { type ApiDocument, addressOf, resolved } from './document.ts';
import type { Operation } from './operations.ts';
import { kebab, REGION, shortened } from './text.ts';

export interface Scheme {
  readonly name: string;
  /** `settings.authorize` of the upstream. */
  readonly authorize: JsonObject | readonly JsonObject[];
  /** Secret -> the end of its environment variable. */
  readonly secrets: Readonly<Record<string, string>>;
  /** The parameters that carry it, lest callers be asked for it. */
  readonly parameters: readonly { readonly in: string; readonly name: string }[];
  /** Where it is sent, as `header x-key`, whatever its secrets are named. */
  readonly places: readonly string[];
  readonly remark?: string;
}

/** One of a document's schemes. */
interface Part extends Omit<Scheme, 'authorize' | 'places'> {
  readonly authorize: JsonObject;
  readonly place: string;
}

/** What a secret is named that is the only one. */
const KEY = 'key';
const KEY_VARIABLE = 'API_KEY';

/** As a catalogue takes it. */
const TOKEN_URL = /^https:\/\/[!-z|~]+$/;
const LONGEST_SCOPES = 200;

/** Where requests are signed as Amazon's services want it: theirs, and gateways of it before others. Other marks name keys. */
const isAwsSigned = (scheme: JsonObject): boolean =>
  String(scheme['x-amazon-apigateway-authtype']).toLowerCase() === 'awssigv4';
const AWS_HOST = new RegExp(`(?:^|\\.)([a-z0-9-]+)\\.(${REGION})\\.amazonaws\\.com(?:\\.cn)?$`);

/** What a signature is sent in: of each request, or of an address that is handed on. */
const AWS_PARAMETERS = [
  'Algorithm',
  'Content-Sha256',
  'Credential',
  'Date',
  'Security-Token',
  'Signature',
  'SignedHeaders',
];

/** A document, and where the upstream is that is made of it. */
interface Described extends Pick<ApiDocument, 'root'> {
  readonly baseUrl: string;
}

/** Service and region are those that the upstream's address names; where that names none, those of the first server's. */
function awsPart({ root, baseUrl }: Described, name: string): Part | undefined {
  const addresses = [baseUrl, addressOf(asJsonObjects(root.servers)[0], undefined) ?? baseUrl];
  const named = addresses.map((address) => AWS_HOST.exec(new URL(address).hostname));
  const [, service, region] = named.find((found) => found !== null) ?? [];
  if (service === undefined || region === undefined) return undefined;
  return {
    name,
    place: 'aws',
    authorize: { aws: service, region, id: 'id', key: KEY },
    secrets: { id: 'ACCESS_KEY_ID', [KEY]: 'SECRET_ACCESS_KEY' },
    parameters: AWS_PARAMETERS.flatMap((end) =>
      ['header', 'query'].map((place) => ({ in: place, name: `X-Amz-${end}` })),
    ),
    remark: `requests are signed for the service ${service} in ${region}, as the address says: write the name that the service has in signatures into settings.authorize.aws where that is another`,
  };
}

/** Undefined where the adapter cannot send it. */
function partOf(described: Described, name: string, secret: string): Part | undefined {
  const { root } = described;
  const source = resolved(root, asJsonObject(asJsonObject(root.components).securitySchemes)[name]);
  const [type, place, sentAs] = [source.type, source.in, String(source.name)];
  const http = String(source.scheme).toLowerCase();
  const secrets = { [secret]: secret === KEY ? KEY_VARIABLE : secret.toUpperCase() };
  const bearer = { name, place: 'bearer', authorize: { bearer: secret }, secrets, parameters: [] };
  if (type === 'http' && http === 'bearer') return bearer;
  if (type === 'http' && http === 'basic') {
    const user = { user: 'USER', password: 'PASSWORD' };
    return { name, place: 'basic', authorize: { basic: '{user}:{password}' }, secrets: user, parameters: [] };
  }
  if (isAwsSigned(source)) return awsPart(described, name);
  if (type === 'apiKey' && (place === 'header' || place === 'query')) {
    const authorize = { [place]: sentAs, value: `{${secret}}` };
    return {
      name,
      place: `${place} ${sentAs.toLowerCase()}`,
      authorize,
      secrets,
      parameters: [{ in: place, name: sentAs }],
    };
  }
  if (type !== 'oauth2' && type !== 'openIdConnect') return undefined;
  const { tokenUrl, scopes } = asJsonObject(asJsonObject(source.flows).clientCredentials);
  if (typeof tokenUrl === 'string' && TOKEN_URL.test(tokenUrl)) {
    const known = Object.keys(asJsonObject(scopes)).join(' ');
    const scopesKnown = known && ` (it knows ${shortened(known, LONGEST_SCOPES)})`;
    const remark = `${name} hands out a token for client id and secret at ${tokenUrl}: where it wants a scope, write it into settings.authorize.fields${scopesKnown}; where it wants the two in its form, write there client_id: "{id}", client_secret: "{secret}" in place of client`;
    const client = { id: 'CLIENT_ID', secret: 'CLIENT_SECRET' };
    return { ...bearer, authorize: { oauth: tokenUrl, client: '{id}:{secret}' }, secrets: client, remark };
  }
  const remark = `${name} is ${type}: its access token is sent as a bearer token, and nothing here renews it`;
  return { ...bearer, remark };
}

/** Schemes of the document that are needed together; empty where one of them cannot be sent. */
function partsOf(described: Described, needed: readonly string[]): Part[] {
  // One header holds one access token, which opens what names several flows to get it.
  const [, ...sameToken] = needed.filter((name) => partOf(described, name, KEY)?.place === 'bearer');
  const names = needed.filter((name) => !sameToken.includes(name));
  const secretOf = (name: string): string => (names.length === 1 ? KEY : kebab(name).replaceAll('-', '_') || KEY);
  const parts = names.flatMap((name) => partOf(described, name, secretOf(name)) ?? []);
  // Two of one place, such as the header of bearer and basic, take each other's.
  const secrets = parts.flatMap((part) => Object.keys(part.secrets));
  const areApart = areDistinct(parts.map(({ place }) => headerOf(place))) && areDistinct(secrets);
  return parts.length === names.length && areApart ? parts : [];
}

const areDistinct = (texts: readonly string[]): boolean => new Set(texts).size === texts.length;

const AUTHORIZATION = 'header authorization';

const headerOf = (place: string): string => (['bearer', 'basic', 'aws'].includes(place) ? AUTHORIZATION : place);

const schemeOf = (parts: readonly Part[]): Scheme => {
  const remark = parts.flatMap((part) => part.remark ?? []).join('; ');
  const [first] = parts;
  return {
    name: parts.map(({ name }) => name).join(' and '),
    authorize: first && parts.length === 1 ? first.authorize : parts.map(({ authorize }) => authorize),
    secrets: Object.assign({}, ...parts.map(({ secrets }) => secrets)),
    parameters: parts.flatMap(({ parameters }) => parameters),
    places: parts.map(({ place }) => place),
    ...(remark !== '' && { remark }),
  };
};

/** The alternatives that an operation names: each a list of schemes that are all needed. Empty: it needs none. */
function alternativesOf({ root }: Pick<ApiDocument, 'root'>, { source }: Operation): string[][] {
  return asJsonObjects(source.security ?? root.security).map((needed) => Object.keys(needed));
}

/** The scheme of the upstream: what opens most operations, and of equals the first. Undefined: none is needed. */
export function chooseScheme(described: Described, operations: readonly Operation[]): Scheme | undefined {
  const counts = new Map<string, { readonly parts: readonly Part[]; opened: number }>();
  for (const operation of operations) {
    for (const needed of alternativesOf(described, operation)) {
      const parts = partsOf(described, needed);
      if (parts.length === 0) continue;
      const places = parts
        .map(({ place }) => place)
        .sort()
        .join();
      const known = counts.get(places) ?? { parts, opened: 0 };
      known.opened += 1;
      counts.set(places, known);
    }
  }
  const [first] = [...counts.values()].sort((left, right) => right.opened - left.opened);
  return first ? schemeOf(first.parts) : askedScheme(operations);
}

/** Parameters in which a key is sent, whatever else the document calls them. */
const CREDENTIAL = /^(?:header authorization|(?:header|query) (?:x-)?(?:api|app|auth|access)[-_]?(?:key|token))$/;

const placeOf = ({ in: place, name }: JsonObject): string => `${place} ${String(name).toLowerCase()}`;

const isRequired = ({ required }: JsonObject): boolean => required === true;

/** Of a document that names no security: the first parameter that is a key. Callers have none of the operator's. */
function askedScheme(operations: readonly Operation[]): Scheme | undefined {
  const found = operations
    .flatMap(({ parameters }) => parameters)
    .find((parameter) => isRequired(parameter) && CREDENTIAL.test(placeOf(parameter)));
  if (!found) return undefined;
  const name = String(found.name);
  const [place, value] = [placeOf(found), `{${KEY}}`];
  const remark = `${name} is asked for as a parameter, and the document names no security: the key is sent in it`;
  const asItIs = ', as it is: write authorize: { bearer: key } where "Bearer " belongs before it';
  return {
    name,
    authorize: found.in === 'header' ? { header: name, value } : { query: name, value },
    secrets: { [KEY]: KEY_VARIABLE },
    parameters: [{ in: String(found.in), name }],
    places: [place],
    remark: place === AUTHORIZATION ? remark + asItIs : remark,
  };
}

/** What is said of security schemes that are described, where neither the document nor an operation says who needs one. */
export function unnamedSchemes({ root }: ApiDocument, operations: readonly Operation[], upstream: string): string[] {
  const names = Object.keys(asJsonObject(asJsonObject(root.components).securitySchemes));
  const isSaid = [root, ...operations.map(({ source }) => source)].some(({ security }) => security !== undefined);
  if (names.length === 0 || isSaid) return [];
  const which = names.length === 1 ? 'the security scheme' : 'the security schemes';
  return [
    `it describes ${which} ${names.join(' and ')}, and no operation names one: calls are sent without a key. Where they need it, write keys, and authorize under settings, of ${upstream} in upstreams.yaml`,
  ];
}

/** Why calls of an operation are not let in with the upstream's scheme; undefined where they are. */
export function refusedWith(
  described: Described,
  operation: Operation,
  scheme: Scheme | undefined,
): string | undefined {
  const alternatives = alternativesOf(described, operation);
  const isSent = (name: string): boolean => scheme?.places.includes(partOf(described, name, KEY)?.place ?? '') === true;
  if (alternatives.length === 0 || alternatives.some((needed) => needed.every(isSent))) {
    return unfilledHeader(operation, scheme);
  }
  const wanted = alternatives.map((needed) => needed.join(' and ')).join(' or ');
  const schemes = asJsonObject(asJsonObject(described.root.components).securitySchemes);
  const unknown = [...new Set(alternatives.flat())].filter((name) => !Object.hasOwn(schemes, name));
  if (unknown.length > 0) {
    const names = unknown.join(' and ');
    return `needs ${wanted}, and the document does not describe ${names}: add ${unknown.length > 1 ? 'them' : 'it'} to its components.securitySchemes`;
  }
  return scheme
    ? `needs ${wanted}, and the upstream authorizes with ${scheme.name}`
    : `needs ${wanted}, which cannot be sent`;
}

/** No caller is asked for the header in which the upstream's key belongs. */
function unfilledHeader({ parameters }: Operation, scheme: Scheme | undefined): string | undefined {
  const isAsked = parameters.some((parameter) => isRequired(parameter) && placeOf(parameter) === AUTHORIZATION);
  if (!scheme || !isAsked || scheme.places.map(headerOf).includes(AUTHORIZATION)) return undefined;
  return `needs the header Authorization, and the upstream authorizes with ${scheme.name}`;
}

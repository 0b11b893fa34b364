/** How an upstream without an adapter of its own wants to be told who calls. */
import type { AskForToken, Authorization, Authorize } from '../../http/upstream-http.ts';

type Way =
  | { readonly bearer: string }
  | { readonly header: string; readonly value: string }
  | { readonly query: string; readonly value: string }
  | { readonly path: string }
  | { readonly basic: string }
  | TokenWay;

/** A token that the provider hands out for keys, sent as a bearer token (OAuth 2.0, RFC 6749, section 4.4). */
interface TokenWay {
  /** Where tokens are handed out: a whole address, or a path below the upstream's `baseUrl`. */
  readonly oauth: string;
  /** Who asks, as user and password. */
  readonly client?: string;
  /** What else is sent: a scope, an audience, keys that belong into the form. */
  readonly fields?: Readonly<Record<string, string>>;
}

interface HttpSettings {
  /** Several: a provider that wants an id beside its key. */
  readonly authorize?: Way | readonly Way[];
  readonly headers?: Readonly<Record<string, string>>;
}

const name = { type: 'string', pattern: '^[A-Za-z0-9_.-]+$' } as const;
/** What the connection sets itself, or what makes an answer that nobody here can read. */
export const CONNECTION_HEADERS: readonly string[] = [
  ...['host', 'connection', 'keep-alive', 'content-length', 'transfer-encoding', 'upgrade', 'expect'],
  'accept-encoding',
];

/** In any letters: patterns of JSON Schema tell large ones from small ones. */
const ofTheConnection = CONNECTION_HEADERS.join('|').replaceAll(
  /[a-z]/g,
  (letter) => `[${letter}${letter.toUpperCase()}]`,
);

/** The name of a header that may be sent. */
export const headerName = {
  pattern: `^(?!(?:${ofTheConnection})$)[A-Za-z0-9_.-]+$`,
  'x-expected': `write the name of a header; those of the connection are not yours to set: ${CONNECTION_HEADERS.join(', ')}`,
} as const;

const template = {
  type: 'string',
  pattern: '\\{[A-Za-z0-9_]+\\}',
  description: 'What is sent, with {key} where the key of that name belongs',
  'x-expected': 'write {key} where the key belongs',
  examples: ['{key}'],
} as const;

const way = (required: readonly string[], properties: object) => ({
  type: 'object',
  required,
  additionalProperties: false,
  properties,
});

const ways = [
  way(['bearer'], {
    bearer: {
      ...name,
      description: 'The key that is sent as a bearer token',
      'x-expected': 'write the name of one of keys, without braces',
      examples: ['key'],
    },
  }),
  way(['header', 'value'], {
    header: {
      type: 'string',
      ...headerName,
      description: 'The header in which the key is sent',
      examples: ['x-api-key'],
    },
    value: template,
  }),
  way(['query', 'value'], {
    query: { ...name, description: 'The query parameter in which the key is sent', examples: ['api_key'] },
    value: template,
  }),
  way(['path'], {
    path: {
      type: 'string',
      pattern: '^(?=.*\\{[A-Za-z0-9_]+\\})(?:/[A-Za-z0-9._~:{}-]+)+$',
      description: 'What stands before the path of each call, with {key} where the key of that name belongs',
      'x-expected': 'write a path that begins with /, with {key} where the key belongs',
      examples: ['/v2/{key}'],
    },
  }),
  way(['basic'], { basic: { ...template, description: 'User and password', examples: ['{user}:{password}'] } }),
  way(['oauth'], {
    oauth: {
      type: 'string',
      pattern: '^(?:https://[!-z|~]+|/[!-z|~]*)$',
      description: 'Where access tokens are handed out for keys; each is sent as a bearer token until it ends',
      'x-expected': 'write an https URL, or a path below baseUrl',
      examples: ['https://accounts.example.com/oauth/token'],
    },
    client: {
      ...template,
      description: 'Who asks for a token, sent as user and password',
      examples: ['{id}:{secret}'],
    },
    fields: {
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'What else is sent to get one, with {key} where a key belongs; grant_type unless you say otherwise',
      examples: [{ scope: 'read', client_id: '{id}', client_secret: '{secret}' }],
    },
  }),
];

export const httpSettings = {
  type: 'object',
  properties: {
    authorize: {
      anyOf: [...ways, { type: 'array', minItems: 1, items: { anyOf: ways } }],
      description: 'Where the keys are sent; several places as a list',
      examples: [
        { bearer: 'key' },
        { header: 'x-api-key', value: '{key}' },
        [
          { query: 'app_id', value: '{id}' },
          { query: 'app_key', value: '{key}' },
        ],
      ],
    },
    headers: {
      type: 'object',
      propertyNames: headerName,
      additionalProperties: {
        type: 'string',
        pattern: '^[\\t -~]*$',
        'x-expected': 'write printable ASCII on one line',
      },
      description: 'Sent with every call',
      examples: [{ 'x-version': '2' }],
    },
    insecure: { type: 'boolean', default: false, description: 'Whether baseUrl may be http on another machine' },
  },
} as const;

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
  return textsOf(way).flatMap((text) => [...text.matchAll(NAMES)].map(([, secret = '']) => secret));
}

function textsOf(way: Exclude<Way, { readonly bearer: string }>): string[] {
  if ('oauth' in way) return [way.client ?? '', ...Object.values(way.fields ?? {})];
  return ['basic' in way ? way.basic : 'path' in way ? way.path : way.value];
}

const tokenWayIn = (settings: HttpSettings): TokenWay | undefined =>
  waysOf(settings).find((way): way is TokenWay => 'oauth' in way);

/** The names of the keys that are given for a token, and sent with no call. */
export const tokenSecretsIn = (settings: HttpSettings): string[] => {
  const way = tokenWayIn(settings);
  return way ? secretsOf(way) : [];
};

/** How a token is asked for; undefined where none is needed. */
export const tokenRequest: AskForToken = (secrets, settings) => {
  const way = tokenWayIn(settings);
  if (!way) return undefined;
  const { oauth, client, fields = {} } = way;
  const given = Object.entries(fields).map(([name, text]) => [name, filled(text, secrets)]);
  return {
    url: oauth,
    headers: { ...(client !== undefined && { authorization: `Basic ${basicValue(client, inForm(secrets))}` }) },
    fields: { grant_type: 'client_credentials', ...Object.fromEntries(given) },
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
  if ('path' in way || 'oauth' in way) return {};
  const value = filled(way.value, secrets);
  return 'header' in way ? { headers: { [way.header.toLowerCase()]: value } } : { query: { [way.query]: value } };
}

export const authorize: Authorize = (_request, secrets, settings) => {
  const { headers: given = {} }: HttpSettings = settings;
  // In the letters of the gateway's own, whose place they take: of two of one name many servers hear the first.
  const own = Object.fromEntries(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value]));
  const sent = waysOf(settings).map((way) => sentBy(way, secrets));
  return {
    headers: Object.assign(own, ...sent.map(({ headers }) => headers)),
    query: Object.assign({}, ...sent.map(({ query }) => query)),
    prefix: prefixIn(settings, secrets),
  };
};

/** What `settings` of an upstream without an adapter of its own may say: who calls, and what every call carries. */
import { type Algorithm, algorithms } from '../../http/signed-token.ts';

export type Way =
  | { readonly bearer: string }
  | { readonly header: string; readonly value: string }
  | { readonly query: string; readonly value: string }
  | { readonly path: string }
  | { readonly basic: string }
  | TokenWay
  | SigningWay
  | AwsWay;

/** A token that the provider hands out for keys, sent as a bearer token (OAuth 2.0, RFC 6749, section 4.4). */
export interface TokenWay {
  /** Where tokens are handed out: a whole address, or a path below the upstream's `baseUrl`. */
  readonly oauth: string;
  /** Who asks, as user and password. */
  readonly client?: string;
  /** What else is sent: a scope, an audience, keys that belong into the form. */
  readonly fields?: Readonly<Record<string, string>>;
  /** What is signed and shown to get one (RFC 7523), as service accounts have it. */
  readonly assertion?: SigningWay;
}

/** A token that is signed here, sent as a bearer token (JSON Web Tokens, RFC 7519). */
export interface SigningWay {
  readonly jwt: Algorithm;
  /** The key that signs: a shared secret, or a private key in PEM. */
  readonly key: string;
  readonly claims?: Readonly<Record<string, string | number | boolean>>;
  /** Besides `alg` and `typ`. */
  readonly header?: Readonly<Record<string, string>>;
  /** A duration. */
  readonly lasts?: string;
}

/** Each call is signed, as Amazon's services want it. */
export interface AwsWay {
  /** The service, as signatures name it. */
  readonly aws: string;
  readonly region: string;
  /** The access key's id, and the key that signs. */
  readonly id: string;
  readonly key: string;
  /** Of temporary keys: their session's token. */
  readonly session?: string;
}

export interface HttpSettings {
  /** Several: a provider that wants an id beside its key. */
  readonly authorize?: Way | readonly Way[];
  readonly headers?: Readonly<Record<string, string>>;
}

const name = { type: 'string', pattern: '^[A-Za-z0-9_.-]+$' } as const;
const keyName = { ...name, 'x-expected': 'write the name of one of keys, without braces' } as const;
const scopeName = {
  type: 'string',
  pattern: '^[a-z0-9-]+$',
  'x-expected': 'write small letters, digits and hyphens',
} as const;
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

/** How long a token that is signed here is good. */
export const USUAL_LIFE = '30m';

const signing = way(['jwt', 'key'], {
  jwt: {
    enum: algorithms,
    description: 'How a token is signed here; it is sent as a bearer token, and signed anew before it ends',
    examples: ['HS256'],
  },
  key: {
    ...keyName,
    description:
      'The key that signs, without braces: a shared secret, or a private key in PEM, whose lines may end with \\n as written here',
    examples: ['secret'],
  },
  claims: {
    type: 'object',
    additionalProperties: { type: ['string', 'number', 'boolean'] },
    description: 'What it says besides iat and exp, with {key} where a key belongs',
    examples: [{ iss: '{id}' }],
  },
  header: {
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'What stands in its header besides alg and typ, with {key} where a key belongs',
    examples: [{ kid: '{key_id}' }],
  },
  lasts: {
    type: 'string',
    pattern: '^[1-9][0-9]*[mh]$',
    default: USUAL_LIFE,
    description: 'How long it is good',
    'x-expected': 'write minutes or hours, such as 30m',
  },
});

const ways = [
  way(['bearer'], {
    bearer: {
      ...keyName,
      description: 'The key that is sent as a bearer token',
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
    assertion: {
      ...signing,
      description: 'What is signed and sent as assertion to get one, as service accounts have it',
      examples: [{ jwt: 'RS256', key: 'private_key', claims: { iss: '{email}', scope: 'read' }, lasts: '1h' }],
    },
  }),
  signing,
  way(['aws', 'region', 'id', 'key'], {
    aws: {
      ...scopeName,
      description: 'How each call is signed for a service of Amazon, by the name that it has in signatures',
      examples: ['bedrock'],
    },
    region: { ...scopeName, description: 'Where the service is, as its address says', examples: ['us-east-1'] },
    id: {
      ...keyName,
      description: "The access key's id, without braces; it is sent with each call",
      examples: ['access_key_id'],
    },
    key: {
      ...keyName,
      description: 'The secret access key that signs, without braces; it is never sent',
      examples: ['secret_access_key'],
    },
    session: { ...keyName, description: "Of temporary keys: their session's token", examples: ['session_token'] },
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

/** Access tokens that a provider hands out for keys (OAuth 2.0, RFC 6749), or that are signed here: made once, and kept until they end. */
import { request } from 'undici';
import { asJsonObject } from '../../json.ts';
import type { TimeLimit } from '../../outgoing/time-limit.ts';
import { UpstreamProblem } from '../problem.ts';
import { readBounded } from './bounded-body.ts';
import { snippet } from './redact.ts';
import { type SignedToken, signed } from './signed-token.ts';

/** How a token is asked for: by POST, with the fields of a form. */
export interface TokenRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fields: Readonly<Record<string, string>>;
  /** Signed anew for each, and sent as the field of that name. */
  readonly assertion?: SignedToken | undefined;
}

export interface HeldToken {
  readonly value: string;
  /** It was asked for just now, by whoever holds it: one that is refused all the same is not renewed again. */
  readonly isNew: boolean;
}

export interface AccessTokens {
  /** Throws UpstreamProblem where none is handed out. Rejects where the limit ends it. */
  get(limit: TimeLimit): Promise<HeldToken>;
  /** It was refused: the next one who asks gets another. */
  forget(value: string): void;
}

interface AccessTokenOptions {
  readonly upstream: string;
  readonly wanted: TokenRequest | SignedToken;
  readonly secrets: Readonly<Record<string, string>>;
  /** Told each token before it is used: nobody is to read it. */
  readonly received: (value: string) => void;
  /** Milliseconds; tests set it. */
  readonly now?: (() => number) | undefined;
}

interface Made {
  readonly value: string;
  /** How long it is good. */
  readonly seconds: number;
}

interface Token {
  readonly value: string;
  readonly renewAt: number;
}

const TIME_LIMIT_MS = 15_000;
const LARGEST_ANSWER = 262_144;
/** Of one of which nothing is said: it is kept until it is refused, and no longer than this. */
const USUAL_SECONDS = 600;
/** Of a token's life, what it is no longer used in: a call may be long on its way. */
const LAST_PART = 0.1;

export function openAccessTokens(options: AccessTokenOptions): AccessTokens {
  const { upstream, wanted, secrets, received, now = () => performance.now() } = options;
  let current: Token | undefined;
  let asked: Promise<Token> | undefined;

  async function sign(token: SignedToken): Promise<Made> {
    try {
      return await signed(token);
    } catch {
      const { algorithm } = token;
      const taken = algorithm.startsWith('HS')
        ? 'a secret that is not empty'
        : 'a private key for it, in PEM and not encrypted';
      throw new UpstreamProblem(
        'unavailable',
        upstream,
        `no token is signed by ${algorithm}: its key has to be ${taken}`,
      );
    }
  }

  async function askFor({ url, headers, fields, assertion }: TokenRequest): Promise<Made> {
    const form = new URLSearchParams(fields);
    const shown = assertion && (await sign(assertion)).value;
    if (shown !== undefined) form.set('assertion', shown);
    const failed = (failure: 'failed' | 'malformed' | 'unavailable', what: string, body?: Buffer): UpstreamProblem =>
      new UpstreamProblem(failure, upstream, `POST ${url} for an access token ${what}`, {
        ...(body && { providerMessage: snippet(body, [...Object.values(secrets), shown ?? '']) }),
      });
    const answered = await post(url, headers, form).catch((error: unknown) => {
      throw failed('failed', `had no answer: ${error instanceof Error ? error.message : String(error)}`);
    });
    const { status, bytes } = answered;
    if (!bytes) throw failed('malformed', `answered more than ${LARGEST_ANSWER} bytes`);
    if (status >= 500 || status === 429) throw failed('failed', `answered ${status}`, bytes);
    if (status !== 200 && status !== 201) throw failed('unavailable', `answered ${status}`, bytes);
    const { access_token: value, expires_in: given } = asJsonObject(parsed(bytes));
    if (typeof value !== 'string' || value === '') throw failed('malformed', 'answered none');
    const seconds = Number(given ?? USUAL_SECONDS);
    return { value, seconds: seconds > 0 ? seconds : USUAL_SECONDS };
  }

  async function renew(): Promise<Token> {
    const askedAt = now();
    try {
      const { value, seconds } = await ('url' in wanted ? askFor(wanted) : sign(wanted));
      received(value);
      current = { value, renewAt: askedAt + seconds * 1000 * (1 - LAST_PART) };
      return current;
    } finally {
      asked = undefined;
    }
  }

  return {
    async get(limit) {
      if (current && now() < current.renewAt) return { value: current.value, isNew: false };
      asked ??= renew();
      const { value } = await within(limit, asked);
      return { value, isNew: true };
    },
    forget(value) {
      if (current?.value === value) current = undefined;
    },
  };
}

async function post(url: string, headers: TokenRequest['headers'], form: URLSearchParams) {
  const { statusCode: status, body } = await request(url, {
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: form.toString(),
    signal: AbortSignal.timeout(TIME_LIMIT_MS),
  });
  return { status, bytes: await readBounded(body, LARGEST_ANSWER) };
}

/** Whoever leaves does not end what others wait for. */
function within<Value>(limit: TimeLimit, work: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error('given up'));
    if (limit.aborted) late();
    limit.once('abort', late);
    work.then(resolve, reject).finally(() => limit.off('abort', late));
  });
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

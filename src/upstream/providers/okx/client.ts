/**
 * OKX's market API for tokens: signed requests, an envelope with a code, and numbers as strings.
 * Source: github okx/onchainos-skills, cli/src/client.rs and skills/okx-dex-token/references/cli-reference.md.
 */
import { createHmac } from 'node:crypto';
import { asJsonObject, isJsonObject, type JsonObject } from '../../../json.ts';
import type { Binding, CallContext } from '../../adapter.ts';
import type { Authorization, Signable, UpstreamRequest } from '../../http/upstream-http.ts';
import { cutProviderText, UpstreamProblem } from '../../problem.ts';

export type OkxBinding = Pick<Binding, 'upstream' | 'http' | 'settings'>;
export type OkxContext = Pick<CallContext, 'signal'>;

/** A row of an answer: strings that are numbers have become numbers. */
export type OkxRow = JsonObject;

/** OKX's number of a chain. Its absence is a fault of the catalogue. */
export function chainIndexOf({ upstream, settings }: Pick<OkxBinding, 'upstream' | 'settings'>, chain: string): string {
  const index = (settings.chains as Readonly<Record<string, string>> | undefined)?.[chain];
  if (index !== undefined) return index;
  throw new Error(`upstreams.yaml gives the upstream ${upstream} no number for ${chain}: add it to settings.chains`);
}

/** OKX finds EVM addresses in lower case alone: skills/okx-dex-market/SKILL.md of its repository. Others are told by case. */
export const okxAddress = (address: string): string =>
  /^0x[0-9a-f]{40}$/i.test(address) ? address.toLowerCase() : address;

type Signed = Pick<Signable, 'method' | 'path' | 'body'>;

/** Base64 HMAC-SHA256 of timestamp, method, path with query, and body. `timestamp` is RFC 3339 with milliseconds. */
export function signOkx({ method, path, body }: Signed, timestamp: string, secret: string): string {
  return createHmac('sha256', secret)
    .update(timestamp + method + path + body)
    .digest('base64');
}

export function authorizeOkx(request: Signed, secrets: Readonly<Record<string, string>>): Authorization {
  const timestamp = new Date().toISOString();
  // OKX signs its own path: what a proxy's address puts before it is not part of that.
  const path = request.path.slice(Math.max(0, request.path.indexOf('/api/')));
  return {
    headers: {
      'ok-access-key': secrets.key ?? '',
      'ok-access-passphrase': secrets.passphrase ?? '',
      'ok-access-timestamp': timestamp,
      'ok-access-sign': signOkx({ ...request, path }, timestamp, secrets.secret ?? ''),
    },
  };
}

/**
 * The `data` of one answer, a list or one record, with numbers for strings that are numbers. Reading only, so a POST
 * may be repeated. Throws UpstreamProblem.
 */
export async function askOkx(
  { upstream, http }: Pick<OkxBinding, 'upstream' | 'http'>,
  request: Pick<UpstreamRequest, 'path' | 'query' | 'json'>,
  { signal }: OkxContext,
): Promise<unknown> {
  const method = request.json === undefined ? 'GET' : 'POST';
  const response = await http.request({ ...request, method, idempotent: true, signal, accept: [400] });
  const answer = response.json();
  // Some calls answer the bare list.
  if (Array.isArray(answer)) return withNumbers(answer);
  const { code, msg, data } = asJsonObject(answer);
  if (code === undefined) throw new UpstreamProblem('malformed', upstream, `${request.path} answered no envelope`);
  if (response.status < 400 && String(code) === '0') return withNumbers(data);
  const providerMessage = cutProviderText(`${String(code)}: ${String(msg)}`);
  const failure = failureOf(providerMessage);
  throw new UpstreamProblem(failure, upstream, `${request.path} answered an error`, {
    status: response.status,
    ...(failure === 'invalid-input' && { publicMessage: 'The provider does not take this address or keyword' }),
    providerMessage,
  });
}

/** Parameters that are as the caller wrote them; the gateway or the catalogue chooses the others. */
const CALLERS_PARAMETER = /^(?:50014|51000): Parameter (?:tokenContractAddress|tokenAddress|search)\b/i;

/**
 * 501xx is about the key, 50125 and 80001 about the region that we call from, 50014 and 51000 about a parameter
 * (web3.okx.com/onchainos/dev-docs/market/market-token-error-code).
 */
function failureOf(error: string): 'unavailable' | 'invalid-input' | 'failed' {
  if (CALLERS_PARAMETER.test(error)) return 'invalid-input';
  return /^(?:501\d\d|80001):/.test(error) ? 'unavailable' : 'failed';
}

/** The rows of an answer. Some calls wrap theirs in a page with a cursor: `list` names the field. */
export function rowsOf(data: unknown, { upstream }: Pick<OkxBinding, 'upstream'>, list?: string): OkxRow[] {
  if (data === null || data === undefined) return [];
  const page =
    Array.isArray(data) && list !== undefined && data.length === 1 && list in Object(data[0]) ? data[0] : data;
  const rows = Array.isArray(page) ? page : list === undefined ? undefined : asJsonObject(page)[list];
  if (!Array.isArray(rows)) throw new UpstreamProblem('malformed', upstream, 'answered no list where one was expected');
  return rows;
}

/** The record of an answer, bare or the only one of a list; undefined where OKX knows nothing. */
export function recordOf(data: unknown): OkxRow | undefined {
  const record: unknown = Array.isArray(data) ? data[0] : data;
  return isJsonObject(record) && Object.keys(record).length > 0 ? record : undefined;
}

const NUMBER = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;
/** A token may be called 404, and an id is no amount. */
const TEXT_FIELD = /(?:Address|Symbol|Name|Url|Logo|Hash|Id|Cursor|Type|Source|Tags|Title|Summary|Content)s?$/;

/** Numbers for strings that are numbers, null for empty ones. OKX's number of the chain is left out: results name it. */
export function withNumbers(value: unknown, field = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => withNumbers(item, field));
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).filter(([name]) => name !== 'chainIndex' && name !== 'chainId');
    return Object.fromEntries(fields.map(([name, item]) => [name, withNumbers(item, name)]));
  }
  if (typeof value !== 'string' || TEXT_FIELD.test(field.charAt(0).toUpperCase() + field.slice(1))) return value;
  if (value === '') return null;
  return NUMBER.test(value) ? Number(value) : value;
}

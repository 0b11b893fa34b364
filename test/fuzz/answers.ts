/** What every answer has to be, whatever was asked. */
import { problems } from '../../src/errors.ts';
import { apiKeyProblems } from '../../src/http/api-keys/problems.ts';
import { asJsonObject, isJsonObject, type JsonObject } from '../../src/json.ts';
import { BASE } from '../../src/payment/payment-problem.ts';
import type { Answer } from './wire.ts';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const SUCCESSES = [200, 202, 204, 206, 304];
const MOST_DETAILS = 20;
/** JSON-RPC's. */
const INTERNAL_ERROR = -32_603;

const statusOf: Readonly<Record<string, number>> = Object.fromEntries(
  Object.entries({ ...problems, ...apiKeyProblems }).map(([code, { status }]) => [code, status]),
);

export const headerOf = ({ headers }: Answer, name: string): string => headers.get(name)?.[0] ?? '';

/** The body as JSON; undefined where it is none. */
export function jsonOf({ body }: Answer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

function faultOfDetails(details: unknown): string | undefined {
  if (details === undefined) return undefined;
  const known = Array.isArray(details) && details.length > 0 && details.length <= MOST_DETAILS;
  if (known && details.every(({ path, message }) => typeof path === 'string' && typeof message === 'string'))
    return undefined;
  return `lists its faults as ${JSON.stringify(details).slice(0, 200)}`;
}

/** A 402 of either rail. Source: RFC 9457; the Payment HTTP authentication scheme, draft 01; x402, HTTP transport. */
function faultOfChallenge(answer: Answer, body: JsonObject): string | undefined {
  const { type, title, status, detail, challengeId, invalidParams, x402Version, accepts, error } = body;
  if (!headerOf(answer, 'content-type').startsWith('application/problem+json')) return 'is a 402 and no problem+json';
  // Asks for a proof of who pays, and for no payment.
  if (type === 'about:blank' && Array.isArray(accepts) && accepts.length === 0) return undefined;
  const texts = [type, title, detail, challengeId];
  if (!texts.every((text) => typeof text === 'string' && text !== '') || status !== 402)
    return 'lacks members of a problem';
  if (!String(type).startsWith(BASE)) return `has the type ${type}`;
  const required = headerOf(answer, 'payment-required');
  const isX402 = x402Version === 1 && Array.isArray(accepts) && typeof error === 'string' && required !== '';
  if (!isX402 && !headerOf(answer, 'www-authenticate').startsWith('Payment ')) return 'is a 402 that nobody can pay';
  return faultOfDetails(invalidParams);
}

/** The gateway's own error, or OpenAI's. */
function faultOfError(answer: Answer, { error }: JsonObject): string | undefined {
  if (!isJsonObject(error)) return 'has no error in its body';
  const { code, message, type, requestId, details } = error;
  if (typeof message !== 'string' || message === '') return 'has no message';
  if (typeof code !== 'string' || statusOf[code] === undefined) return `has the unknown code ${code}`;
  if (statusOf[code] !== answer.status) return `is ${answer.status} with the code ${code}`;
  if (requestId !== undefined)
    return requestId === headerOf(answer, 'request-id') ? faultOfDetails(details) : 'has two request ids';
  return typeof type === 'string' && 'param' in error ? undefined : 'is in nobody’s shape';
}

/** Source: JSON-RPC 2.0, "Error object". */
function faultOfMessage({ error }: JsonObject): string | undefined {
  const { code, message } = asJsonObject(error);
  if (!Number.isInteger(code) || typeof message !== 'string' || message === '') return 'is no error of JSON-RPC';
  return code === INTERNAL_ERROR ? 'is a fault of the gateway’s own' : undefined;
}

/** What is wrong with an answer to `method`, if anything. */
export function faultOfAnswer(method: string, answer: Answer): string | undefined {
  const { status } = answer;
  if (SUCCESSES.includes(status)) return faultOfSuccess(method, answer);
  if (!UUID.test(headerOf(answer, 'request-id'))) return `is a ${status} without a request id`;
  if (method === 'HEAD') return undefined;
  const body = asJsonObject(jsonOf(answer));
  if (body.jsonrpc !== undefined) return faultOfMessage(body);
  if (body.error === undefined || status === 402) {
    if (status === 402 && body.type !== undefined) return faultOfChallenge(answer, body);
  }
  if (asJsonObject(body.error).code === 'internal_error') return 'is a fault of the gateway’s own';
  return faultOfError(answer, body);
}

function faultOfSuccess(method: string, answer: Answer): string | undefined {
  if (answer.status !== 200 || method === 'HEAD') return undefined;
  if (!/^application\/(?:[\w.-]+\+)?json/.test(headerOf(answer, 'content-type'))) return undefined;
  return jsonOf(answer) === undefined ? 'says that it is JSON and is not' : undefined;
}

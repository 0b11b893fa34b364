import { Pool } from 'undici';
import type { Settlement } from '../../settlement.ts';
import { TimeLimit } from '../../time-limit.ts';
import {
  type Facilitator,
  type FacilitatorTransfer,
  FacilitatorUnreachable,
  type Kind,
  SETTLE_TIMEOUT_MS,
  VERIFY_TIMEOUT_MS,
} from './facilitator.ts';
import { amountOf, asObject, asText } from './json.ts';
import { isInconclusive, isSpent, plainReason } from './reasons.ts';

type Operation = 'verify' | 'settle' | 'supported';
type Headers = Readonly<Record<string, string>>;

export interface RemoteOptions {
  /** Address under which `/verify`, `/settle` and `/supported` are found. */
  readonly url: string;
  /** Headers that authenticate the gateway; made anew for every request. */
  readonly createAuthHeaders?: () => Promise<{ readonly [operation in Operation]?: Headers }>;
  /** Milliseconds, at most. Default: `VERIFY_TIMEOUT_MS`. */
  readonly verifyTimeoutMs?: number;
  /** Milliseconds, at most. Default: `SETTLE_TIMEOUT_MS`. */
  readonly settleTimeoutMs?: number;
  /** Connections kept open. Default 32. */
  readonly connections?: number;
}

const LARGEST_ANSWER = 256 * 1024;
/** Request timeout, conflict, too early, too many requests: another attempt may be under way. */
const INCONCLUSIVE = [408, 409, 425, 429];

const succeeded = (status: number): boolean => status >= 200 && status < 300;

interface HttpAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

async function readJson(body: AsyncIterable<Buffer>): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > LARGEST_ANSWER) throw new Error('the answer is too large');
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    return undefined;
  }
}

/** Why a request had no answer, in words that hold neither the payment nor the address. */
function why(error: unknown): string {
  const { code, name } = asObject(error instanceof Error ? { code: Reflect.get(error, 'code'), name: error.name } : {});
  return name === 'TimeoutError' || name === 'AbortError' ? 'no answer in time' : (asText(code) ?? 'no connection');
}

/** Version 1 and 2 name the payer in the authorization; Solana's facilitators always answer with one. */
function payerOf(payload: object): string | undefined {
  const { authorization, permit2Authorization } = asObject(asObject(payload).payload);
  return asText(asObject(authorization).from) ?? asText(asObject(permit2Authorization).from);
}

/** A facilitator over HTTP (x402 specification version 2, "Facilitator interface"; the same paths in version 1). */
export function remoteFacilitator(options: RemoteOptions): Facilitator {
  const url = new URL(options.url);
  const path = url.pathname.replace(/\/$/, '');
  const pool = new Pool(url.origin, { connections: options.connections ?? 32 });

  const ask = async (operation: Operation, message: object | undefined, timeoutMs: number, signal?: AbortSignal) => {
    const authentication = options.createAuthHeaders ? (await options.createAuthHeaders())[operation] : undefined;
    const limit = new TimeLimit(signal, timeoutMs);
    try {
      const response = await pool.request({
        path: `${path}/${operation}${url.search}`,
        method: message ? 'POST' : 'GET',
        headers: { accept: 'application/json', 'content-type': 'application/json', ...authentication },
        body: message ? JSON.stringify(message) : null,
        signal: limit,
      });
      const answer: HttpAnswer = { status: response.statusCode, body: asObject(await readJson(response.body)) };
      return answer;
    } finally {
      limit.clear();
    }
  };

  const envelope = (payload: object, requirements: object): object => ({
    x402Version: asObject(payload).x402Version,
    paymentPayload: payload,
    paymentRequirements: requirements,
  });

  const reach = async (
    operation: Operation,
    message: object | undefined,
    signal?: AbortSignal,
  ): Promise<HttpAnswer> => {
    try {
      return await ask(operation, message, options.verifyTimeoutMs ?? VERIFY_TIMEOUT_MS, signal);
    } catch (error) {
      throw new FacilitatorUnreachable(`the facilitator did not answer /${operation}: ${why(error)}`);
    }
  };

  return {
    async supported() {
      const { status, body } = await reach('supported', undefined);
      if (!succeeded(status) || !Array.isArray(body.kinds)) {
        throw new FacilitatorUnreachable(`the facilitator answered /supported with HTTP ${status} and no kinds`);
      }
      return body.kinds.map(asObject).map(
        (kind): Kind => ({
          x402Version: Number(kind.x402Version),
          scheme: String(kind.scheme),
          network: String(kind.network),
          ...(kind.extra ? { extra: asObject(kind.extra) } : {}),
        }),
      );
    },

    async verify(payload, requirements, signal) {
      const { status, body } = await reach('verify', envelope(payload, requirements), signal);
      if (body.isValid === false) {
        return { valid: false, reason: plainReason(asText(body.invalidReason), asText(body.invalidMessage)) };
      }
      const payer = asText(body.payer) ?? payerOf(payload);
      if (!succeeded(status) || body.isValid !== true || !payer) {
        throw new FacilitatorUnreachable(`the facilitator answered /verify with HTTP ${status} and no verdict`);
      }
      return { valid: true, payer };
    },

    async settle(payload, requirements, signal): Promise<Settlement<FacilitatorTransfer>> {
      let answer: HttpAnswer;
      try {
        answer = await ask(
          'settle',
          envelope(payload, requirements),
          options.settleTimeoutMs ?? SETTLE_TIMEOUT_MS,
          signal,
        );
      } catch (error) {
        return { state: 'unknown', reason: `the facilitator did not answer /settle: ${why(error)}` };
      }
      const { status, body } = answer;
      // `upto` settles nothing without a transaction.
      const transaction = asText(body.transaction) ?? (body.amount === '0' ? '' : undefined);
      const code = asText(body.errorReason);
      if (succeeded(status) && body.success === true && transaction !== undefined) {
        const network = asText(body.network) ?? String(asObject(requirements).network);
        const payer = asText(body.payer);
        const amount = amountOf(body) ?? amountOf(requirements);
        if (amount === undefined) return { state: 'unknown', reason: 'the facilitator does not tell what it settled' };
        return { state: 'settled', transaction, network, amount, ...(payer ? { payer } : {}) };
      }
      if (body.success === false && !isInconclusive(code, transaction)) {
        return { state: 'refused', reason: plainReason(code), ...(isSpent(code) ? { spent: true } : {}) };
      }
      if (body.success === undefined && status >= 400 && status < 500 && !INCONCLUSIVE.includes(status)) {
        return { state: 'refused', reason: `the facilitator does not take the request (HTTP ${status})` };
      }
      return { state: 'unknown', reason: code ? plainReason(code) : `the facilitator answered HTTP ${status}` };
    },

    close: () => pool.close(),
  };
}

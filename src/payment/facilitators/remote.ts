import { Pool } from 'undici';
import { readBounded } from '../../bounded-body.ts';
import { asJsonObject } from '../../json.ts';
import type { Log } from '../../log.ts';
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
import { amountOf, asText } from './json.ts';
import { plainReason } from './reasons.ts';
import { disagreement, payerOf } from './settled-answer.ts';

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
  /** Is told of settlements that are not what was asked for. */
  readonly log?: Log;
  /** Connections kept open. Default 32. */
  readonly connections?: number;
}

const LARGEST_ANSWER = 256 * 1024;

const succeeded = (status: number): boolean => status >= 200 && status < 300;

interface HttpAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

async function readJson(body: AsyncIterable<Buffer>): Promise<unknown> {
  const bytes = await readBounded(body, LARGEST_ANSWER);
  if (!bytes) throw new Error('the answer is too large');
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}

/** Why a request had no answer, in words that hold neither the payment nor the address. */
function why(error: unknown): string {
  const { code, name } = asJsonObject(
    error instanceof Error ? { code: Reflect.get(error, 'code'), name: error.name } : {},
  );
  return name === 'TimeoutError' || name === 'AbortError' ? 'no answer in time' : (asText(code) ?? 'no connection');
}

/**
 * A facilitator over HTTP (x402 specification version 2, "Facilitator interface"; the same paths in version 1). It holds the
 * payment and can settle it as long as it is good, whatever it answers: its refusal to settle is `unknown`, and the
 * chain says what came of it.
 */
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
      const answer: HttpAnswer = { status: response.statusCode, body: asJsonObject(await readJson(response.body)) };
      return answer;
    } finally {
      limit.clear();
    }
  };

  const envelope = (payload: object, requirements: object): object => ({
    x402Version: asJsonObject(payload).x402Version,
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
      return body.kinds.map(asJsonObject).map(
        (kind): Kind => ({
          x402Version: Number(kind.x402Version),
          scheme: String(kind.scheme),
          network: String(kind.network),
          ...(kind.extra ? { extra: asJsonObject(kind.extra) } : {}),
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
      if (succeeded(status) && body.success === true) {
        const problem = disagreement(payload, requirements, body);
        if (problem) {
          options.log?.error({ facilitator: url.host, problem }, 'a settlement is not believed');
          return { state: 'unknown', reason: problem };
        }
        const payer = asText(body.payer);
        return {
          state: 'settled',
          transaction: asText(body.transaction) ?? '',
          network: String(body.network),
          amount: amountOf(requirements) ?? 0n,
          ...(payer ? { payer } : {}),
        };
      }
      const code = asText(body.errorReason);
      return { state: 'unknown', reason: code ? plainReason(code) : `the facilitator answered HTTP ${status}` };
    },

    close: () => pool.close(),
  };
}

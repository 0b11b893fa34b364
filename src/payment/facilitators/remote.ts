import { Pool } from 'undici';
import { asJsonObject, isJsonObject } from '../../json.ts';
import type { Log } from '../../log.ts';
import type { Settlement } from '../../on-chain/settlement.ts';
import { isSolanaAddress } from '../../on-chain/solana-address.ts';
import { connect } from '../../outgoing/connect.ts';
import { TimeLimit } from '../../outgoing/time-limit.ts';
import { wholeAnswer } from '../../outgoing/whole-answer.ts';
import { openExtensionLog } from './extension-responses.ts';
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
  /** Is told of settlements that are not what was asked for, and of what the facilitator says of extensions. */
  readonly log?: Log;
  /** Connections kept open. Default 32. */
  readonly connections?: number;
}

const LARGEST_ANSWER = 256 * 1024;
/** Characters of JSON. What a client needs to sign goes into every challenge, which has no room for more. */
const LONGEST_EXTRA = 1_024;

const succeeded = (status: number): boolean => status >= 200 && status < 300;

interface HttpAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  /** The header `EXTENSION-RESPONSES`. */
  readonly extensions: unknown;
}

class TooLarge extends Error {}

function readJson(bytes: Buffer | undefined): unknown {
  if (!bytes) throw new TooLarge(`more than ${LARGEST_ANSWER} bytes came`);
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}

/** Why a request had no answer, in words that hold neither the payment nor the address. */
function why(error: unknown): string {
  if (error instanceof TooLarge) return error.message;
  const { code, name } = asJsonObject(
    error instanceof Error ? { code: Reflect.get(error, 'code'), name: error.name } : {},
  );
  return name === 'TimeoutError' || name === 'AbortError' ? 'no answer in time' : (asText(code) ?? 'no connection');
}

/** Undefined for what is none, what a challenge has no room for, or nobody could sign. */
function readKind(given: unknown): Kind | undefined {
  const { x402Version, scheme, network, extra } = asJsonObject(given);
  if (typeof x402Version === 'object' || typeof scheme !== 'string' || typeof network !== 'string') return undefined;
  const kind: Kind = { x402Version: Number(x402Version), scheme, network };
  const needed = asJsonObject(extra);
  if (network.startsWith('solana:') && !isSolanaAddress(asText(needed.feePayer) ?? '')) return undefined;
  if (!extra) return kind;
  try {
    return JSON.stringify(needed).length > LONGEST_EXTRA ? undefined : { ...kind, extra: needed };
  } catch {
    // It is too deep to be written.
    return undefined;
  }
}

const written = new WeakMap<object, string>();

/** JSON of what is the same object in many messages. */
function writtenOnce(constant: object): string {
  const known = written.get(constant) ?? JSON.stringify(constant);
  written.set(constant, known);
  return known;
}

/**
 * What `/verify` and `/settle` take, as JSON. What a payload says of the endpoint, which is most of it, is one object for all
 * payments.
 */
function messageOf(payload: object, requirements: object): string {
  const { resource, extensions, ...own } = asJsonObject(payload);
  const about = Object.entries({ resource, extensions }).flatMap(([name, value]) =>
    isJsonObject(value) ? [`,"${name}":${writtenOnce(value)}`] : [],
  );
  const paymentPayload = `${JSON.stringify(own).slice(0, -1)}${about.join('')}}`;
  const paymentRequirements = JSON.stringify(requirements);
  return `{"x402Version":${own.x402Version},"paymentPayload":${paymentPayload},"paymentRequirements":${paymentRequirements}}`;
}

/**
 * A facilitator over HTTP (x402 specification version 2, "Facilitator interface"; the same paths in version 1). It holds the
 * payment and can settle it as long as it is good, whatever it answers: its refusal to settle is `unknown`, and the
 * chain says what came of it.
 */
export function remoteFacilitator(options: RemoteOptions): Facilitator {
  const url = new URL(options.url);
  const path = url.pathname.replace(/\/$/, '');
  const pool = new Pool(url.origin, { connections: options.connections ?? 32, connect });

  const tellExtensions = openExtensionLog(options.log, url.host);

  const ask = async (operation: Operation, message: string | undefined, timeoutMs: number, signal?: AbortSignal) => {
    const authentication = options.createAuthHeaders ? (await options.createAuthHeaders())[operation] : undefined;
    const limit = new TimeLimit(signal, timeoutMs);
    try {
      const request = {
        path: `${path}/${operation}${url.search}`,
        method: message === undefined ? 'GET' : 'POST',
        headers: { accept: 'application/json', 'content-type': 'application/json', ...authentication },
        body: message ?? null,
      } as const;
      const { status, headers, body } = await wholeAnswer(pool, request, { maxBytes: LARGEST_ANSWER, limit });
      const answer: HttpAnswer = {
        status,
        body: asJsonObject(readJson(body)),
        extensions: headers['extension-responses'],
      };
      return answer;
    } finally {
      limit.clear();
    }
  };

  const reach = async (
    operation: Operation,
    message: string | undefined,
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
      return body.kinds.map(readKind).filter((kind) => kind !== undefined);
    },

    async verify(payload, requirements, signal) {
      const { status, body, extensions } = await reach('verify', messageOf(payload, requirements), signal);
      tellExtensions(extensions, payload, requirements);
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
          messageOf(payload, requirements),
          options.settleTimeoutMs ?? SETTLE_TIMEOUT_MS,
          signal,
        );
      } catch (error) {
        return { state: 'unknown', reason: `the facilitator did not answer /settle: ${why(error)}` };
      }
      const { status, body, extensions } = answer;
      tellExtensions(extensions, payload, requirements);
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

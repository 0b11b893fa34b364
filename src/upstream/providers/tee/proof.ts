/** What can be shown of an answer from a trusted execution environment, whichever protocol shows it. */
import { createHash } from 'node:crypto';
import { asJsonObject } from '../../../json.ts';
import type { CallContext } from '../../adapter.ts';
import { pause } from '../../http/retry.ts';
import type { UpstreamHttp, UpstreamRequest, UpstreamResponse } from '../../http/upstream-http.ts';
import { UpstreamProblem } from '../../problem.ts';
import type { ChatAnswer } from '../openai/chat.ts';
import type { Checks } from './checks.ts';
import type { Trust } from './quote-checks.ts';
import type { TdxQuote } from './tdx-quote.ts';

/** What a protocol needs to ask for a proof. */
export interface ProofRequest {
  readonly http: UpstreamHttp;
  readonly answer: ChatAnswer;
  /** The provider's own id of the model. */
  readonly model: string;
  readonly context: Pick<CallContext, 'signal' | 'cache' | 'now'>;
  /** Whose hardware may have answered, and running what. */
  readonly trust: Trust;
}

/** The environment's evidence for its signing keys. */
export interface Attestation {
  readonly protocol: string;
  /** `tdx` or what else the report says. */
  readonly tee: string;
  /** Ours, fresh for each report. */
  readonly nonce: string;
  /** When the report was fetched, in milliseconds since the epoch. */
  readonly checkedAt: number;
  /** What was checked of the report and its quote: it vouches for the keys where nothing is wrong. */
  readonly checks: Checks;
  /** As the quote has them; null where there is no quote. */
  readonly measurements: TdxQuote['measurements'] | null;
}

/** The proof of one answer, checked. */
export interface Proof {
  /** The provider's name of the receipt. */
  readonly receiptId: string;
  /** What signed: a public key in hex, or an address. */
  readonly teeKey: string | null;
  /** SHA-256 in hex, as signed; null where the receipt names none. */
  readonly requestHash: string | null;
  readonly responseHash: string | null;
  /** Where the provider keeps the proof. */
  readonly verifyUrl: string;
  /** The signed document as it came, for checking again. */
  readonly signed: unknown;
  readonly attestation: Attestation;
  /** Those of the attestation, and what was checked of the answer itself: it is verified where nothing is wrong. */
  readonly checks: Checks;
}

export const sha256 = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');

/** The hashes that a proof of this answer has to name, in hex. */
export const hashesOf = ({ response }: ChatAnswer): { request: string; response: string } => ({
  request: sha256(response.sent),
  response: sha256(response.body),
});

/** How often, and how long in milliseconds, a receipt that is not there yet is waited for. */
const WAITS_MS = [150, 300, 600, 1200];

/**
 * Asks until the answer is the one that is waited for, a few times: the last answer, whatever it is. Providers run several
 * nodes, and the one that is asked may be another. Throws UpstreamProblem.
 */
export async function askUntil<Answer>(
  ask: () => Promise<Answer>,
  isIt: (answer: Answer) => boolean,
  { upstream, path, signal }: { upstream: string; path: string; signal: AbortSignal },
): Promise<Answer> {
  let answer = await ask();
  for (const wait of WAITS_MS) {
    if (isIt(answer)) break;
    await pause(wait, signal).catch(() => {
      throw new UpstreamProblem('timeout', upstream, `${path}: no proof before the deadline`);
    });
    answer = await ask();
  }
  return answer;
}

/**
 * A document about a call that has just been answered. Providers run several nodes, and the one that is asked may not
 * have heard of the call yet. Throws UpstreamProblem.
 */
export async function requestAfterwards(
  http: UpstreamHttp,
  request: UpstreamRequest,
): Promise<Readonly<Record<string, unknown>>> {
  const { path, signal } = request;
  const response: UpstreamResponse = await askUntil(
    () => http.request({ ...request, accept: [404] }),
    ({ status }) => status !== 404,
    { upstream: http.upstream, path, signal },
  );
  if (response.status === 404) {
    throw new UpstreamProblem('failed', http.upstream, 'has no proof of the answer that it gave', { status: 404 });
  }
  return asJsonObject(response.json());
}

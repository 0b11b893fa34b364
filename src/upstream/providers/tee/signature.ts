/**
 * Signed answers and attestation reports of RedPill and NEAR AI Cloud.
 * Source: nearai/nearai-cloud-verifier, ts/chat_verifier.ts and ts/model_verifier.ts.
 */
import { randomBytes } from 'node:crypto';
import { asJsonObject } from '../../../json.ts';
import type { ChatAnswer } from '../openai/chat.ts';
import { outcome } from './checks.ts';
import { type Attestation, hashesOf, type Proof, type ProofRequest, requestAfterwards } from './proof.ts';
import { checkedQuote, type Trust } from './quote-checks.ts';

const ADDRESS = /^0x[0-9a-f]{40}$/;

/** Fetches and checks the proof of an answer. Throws UpstreamProblem where there is none to check. */
export async function signatureProof({ http, answer, model, context, trust }: ProofRequest): Promise<Proof> {
  const { signal } = context;
  const path = `/signature/${encodeURIComponent(answer.id)}`;
  const query = { model, signing_algo: 'ecdsa' };
  const signed = await requestAfterwards(http, { method: 'GET', path, query, signal });
  const address = String(signed.signing_address).toLowerCase();
  const nonce = randomBytes(32).toString('hex');
  const report = await http.request({
    method: 'GET',
    path: '/attestation/report',
    query: { ...query, nonce, signing_address: address },
    signal,
  });
  const attestation = readSignerReport(report.json(), { address, nonce, trust, now: context.now() });
  return await checkSignature(signed, attestation, answer, {
    receiptId: answer.id,
    verifyUrl: `${http.baseUrl}${path}?${new URLSearchParams(query)}`,
  });
}

/** Whether a report vouches for the address. `now` in milliseconds. Never throws. */
export function readSignerReport(
  report: unknown,
  { address, nonce, trust, now }: { address: string; nonce: string; trust: Trust; now: number },
): Attestation {
  const own = nodesOf(report).find(({ signing_address }) => String(signing_address).toLowerCase() === address);
  const bound = address.slice(2).padEnd(64, '0') + nonce;
  const quote = checkedQuote(own?.intel_quote, bound, { trust, now });
  return {
    protocol: 'signature',
    tee: quote.measurements === null ? 'unknown' : 'tdx',
    nonce,
    checkedAt: now,
    checks: {
      report: outcome(own !== undefined, 'no report vouches for the signing address'),
      ...quote.checks,
    },
    measurements: quote.measurements,
  };
}

/** One node's report, or those of several nodes. */
function nodesOf(report: unknown): readonly Readonly<Record<string, unknown>>[] {
  const { model_attestations: models, all_attestations: all } = asJsonObject(report);
  return [...(Array.isArray(models) ? models : []), ...(Array.isArray(all) ? all : []), report].map(asJsonObject);
}

/** `signed.text` is `request:response` or `model:request:response`, hashes in hex. What does not hold is in `checks`. */
export async function checkSignature(
  signed: Readonly<Record<string, unknown>>,
  attestation: Attestation,
  answer: ChatAnswer,
  { receiptId, verifyUrl }: Pick<Proof, 'receiptId' | 'verifyUrl'>,
): Promise<Proof> {
  const text = String(signed.text);
  const match = /(?:^|:)([0-9a-f]{64}):([0-9a-f]{64})$/.exec(text);
  const [requestHash, responseHash] = [match?.[1] ?? null, match?.[2] ?? null];
  const address = String(signed.signing_address).toLowerCase();
  const hashes = hashesOf(answer);
  const signer = await signerOf(text, signed.signature);
  return {
    receiptId,
    teeKey: ADDRESS.test(address) ? address : null,
    requestHash,
    responseHash,
    verifyUrl,
    signed,
    attestation,
    checks: {
      ...attestation.checks,
      answer_signature: outcome(ADDRESS.test(address) && signer === address, 'the signature is forged'),
      request_hash: outcome(requestHash === hashes.request, 'the signature is for another request'),
      response_hash: outcome(responseHash === hashes.response, 'the signature is for another answer'),
    },
  };
}

/** The address that signed a text (EIP-191), in lower case; undefined where it is no signature. */
async function signerOf(text: string, signature: unknown): Promise<string | undefined> {
  if (typeof signature !== 'string' || !/^(?:0x)?[0-9a-fA-F]{130}$/.test(signature)) return undefined;
  // Loaded when it is needed: most gateways never do.
  const { recoverMessageAddress } = await import('viem');
  const recovered = await recoverMessageAddress({
    message: text,
    signature: `0x${signature.replace(/^0x/, '')}`,
  }).catch(() => undefined);
  return recovered?.toLowerCase();
}

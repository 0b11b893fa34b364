/**
 * Receipts and attestation reports of Attested Confidential Inference, `aci/1`.
 * Source: Dstack-TEE/private-ai-gateway, spec/aci.md (sections 3.1, 3.2, 4, 7, 9 and appendix A).
 */
import { createPublicKey, randomBytes, verify } from 'node:crypto';
import { asJsonObject } from '../../../json.ts';
import type { ChatAnswer } from '../openai/chat.ts';
import { canonicalJson } from './canonical-json.ts';
import { faultsOf, outcome } from './checks.ts';
import {
  type Attestation,
  askUntil,
  hashesOf,
  type Proof,
  type ProofRequest,
  requestAfterwards,
  sha256,
} from './proof.ts';
import { checkedQuote, type Trust } from './quote-checks.ts';

const API_VERSION = 'aci/1';
/** A report vouches for its keys until they expire; it is asked for again after this long all the same. */
const REPORT_AGE_MS = 5 * 60_000;
/** DER of an Ed25519 public key up to its 32 bytes (RFC 8410). */
const ED25519_PREFIX = '302a300506032b6570032100';

/** The keys that a report vouches for. */
interface Keyset {
  /** `sha256:` and hex. */
  readonly digest: string;
  readonly receiptKeys: readonly { readonly keyId: string; readonly algorithm: string; readonly publicKey: string }[];
  /** An aggregator has to name the verified environment behind it in each receipt. */
  readonly isAggregator: boolean;
  /** Milliseconds since the epoch. */
  readonly endsAt: number;
  readonly attestation: Attestation;
}

/** What an ACI service wants in a chat request: refuse it rather than answer from somewhere unverified. */
export const aciConstraint = { provider: { aci_verified: true } };

const aciReceiptPath = (receiptId: string): string => `/aci/receipts/${encodeURIComponent(receiptId)}`;

/** Fetches and checks the proof of an answer. Throws UpstreamProblem where there is none to check. */
export async function aciProof({ http, answer, context, trust }: ProofRequest): Promise<Proof> {
  const { signal } = context;
  const receiptId = answer.response.headers['x-receipt-id'] ?? answer.id;
  const path = aciReceiptPath(receiptId);
  const receipt = await requestAfterwards(http, { method: 'GET', path, signal });
  const entry = `tee-aci-keyset:${http.upstream}:${sha256(JSON.stringify([receipt.workload_keyset_digest, trust]))}`;
  const ask = async () => {
    const nonce = randomBytes(32).toString('hex');
    const report = await http.request({ method: 'GET', path: '/aci/attestation', query: { nonce }, signal });
    return readReport(report.json(), { nonce, trust, now: context.now() });
  };
  const isOfReceipt = ({ digest }: Keyset) => digest === receipt.workload_keyset_digest;
  const attest = async () => {
    // Each node has a keyset of its own, and another may have answered.
    const read = await askUntil(ask, isOfReceipt, { upstream: http.upstream, path: '/aci/attestation', signal });
    if (faultsOf(read.attestation.checks).length > 0) throw new FaultyReport(read);
    return read;
  };
  const keyset = await unlessFaulty(() => context.cache.through(entry, REPORT_AGE_MS, attest, signal, isOfReceipt));
  return checkReceipt(receipt, stillCurrent(keyset, context.now()), answer, {
    receiptId,
    verifyUrl: http.baseUrl + path,
  });
}

/** Carries a report that does not hold past the cache, which keeps only what does. */
class FaultyReport extends Error {
  readonly keyset: Keyset;
  constructor(keyset: Keyset) {
    super(faultsOf(keyset.attestation.checks)[0]);
    this.keyset = keyset;
  }
}

async function unlessFaulty(fetch: () => Promise<{ value: Keyset }>): Promise<Keyset> {
  try {
    return (await fetch()).value;
  } catch (error) {
    if (error instanceof FaultyReport) return error.keyset;
    throw error;
  }
}

/** A report that was kept may outlive its keys. */
function stillCurrent(keyset: Keyset, now: number): Keyset {
  if (now < keyset.endsAt) return keyset;
  const { attestation } = keyset;
  const keys_current = outcome(false, 'the keyset has expired');
  return { ...keyset, attestation: { ...attestation, checks: { ...attestation.checks, keys_current } } };
}

/** `nonce` is what the report was asked for with, `now` in milliseconds. Never throws: faults are in the attestation. */
export function readReport(
  report: unknown,
  { nonce, trust, now }: { nonce: string; trust: Trust; now: number },
): Keyset {
  const { attestation, api_version, workload_keyset_digest, service_capabilities } = asJsonObject(report);
  const { workload_keyset, report_data, evidence } = asJsonObject(attestation);
  const { receipt_signing_keys, not_after } = asJsonObject(workload_keyset);
  const digest = `sha256:${sha256(canonicalJson(workload_keyset ?? null))}`;
  const bound = sha256(`{"keyset_digest":"${digest}","nonce":"${nonce}","purpose":"aci.report_data.v1"}`);
  const quote = checkedQuote(asJsonObject(evidence).quote, bound.padEnd(128, '0'), { trust, now });
  const isOwnKeyset = api_version === API_VERSION && digest === workload_keyset_digest && bound === report_data;
  const endsAt = typeof not_after === 'number' ? not_after * 1000 : 0;
  return {
    digest,
    receiptKeys: (Array.isArray(receipt_signing_keys) ? receipt_signing_keys : []).map(asJsonObject).map((key) => ({
      keyId: String(key.key_id),
      algorithm: String(key.algo),
      publicKey: String(key.public_key),
    })),
    isAggregator: asJsonObject(service_capabilities).serving !== 'direct',
    endsAt,
    attestation: {
      protocol: API_VERSION,
      tee: quote.measurements === null ? 'unknown' : 'tdx',
      nonce,
      checkedAt: now,
      checks: {
        report: outcome(isOwnKeyset, 'the report does not bind its keys to the nonce'),
        keys_current: outcome(now < endsAt, 'the keyset has expired'),
        ...quote.checks,
      },
      measurements: quote.measurements,
    },
  };
}

/** Never throws: what does not hold is in `checks`. */
export function checkReceipt(
  receipt: Readonly<Record<string, unknown>>,
  keyset: Keyset,
  answer: ChatAnswer,
  { receiptId, verifyUrl }: Pick<Proof, 'receiptId' | 'verifyUrl'>,
): Proof {
  const { signature, ...document } = receipt;
  const events = (Array.isArray(receipt.event_log) ? receipt.event_log : []).map(asJsonObject);
  const hashOf = (type: string) => bareHash(events.find((event) => event.type === type)?.body_hash);
  const [requestHash, responseHash] = [hashOf('request.received'), hashOf('response.returned')];
  const key = keyset.receiptKeys.find(({ keyId }) => keyId === receipt.key_id);
  const hashes = hashesOf(answer);
  // No quote covers what the report says of itself, and a receipt that names an environment behind it is an aggregator's.
  const behind = events.findLast(({ type }) => type === 'upstream.verified');
  const isServedVerified = behind
    ? behind.result === 'verified' && behind.required !== false && typeof behind.session_id === 'string'
    : !keyset.isAggregator;
  const isOfKeyset = receipt.api_version === API_VERSION && receipt.workload_keyset_digest === keyset.digest;
  const isGenuine = key !== undefined && isSigned(canonicalJson(document), signature, key);
  return {
    receiptId,
    teeKey: key?.publicKey ?? null,
    requestHash,
    responseHash,
    verifyUrl,
    signed: receipt,
    attestation: keyset.attestation,
    checks: {
      ...keyset.attestation.checks,
      receipt: outcome(isOfKeyset, 'the receipt is of another keyset'),
      answer_signature: outcome(isGenuine, 'the signature is forged'),
      request_hash: outcome(requestHash === hashes.request, 'the receipt is for another request'),
      response_hash: outcome(responseHash === hashes.response, 'the receipt is for another answer'),
      stated_environment: outcome(isServedVerified, 'the answer came from an environment that was not verified'),
    },
  };
}

const bareHash = (hash: unknown): string | null =>
  typeof hash === 'string' && /^sha256:[0-9a-f]{64}$/.test(hash) ? hash.slice('sha256:'.length) : null;

/** Ed25519 (RFC 8032) over the document's canonical form; any other algorithm is not known and so not signed. */
function isSigned(text: string, signature: unknown, { algorithm, publicKey }: Keyset['receiptKeys'][number]): boolean {
  if (algorithm !== 'ed25519' || !/^[0-9a-f]{64}$/.test(publicKey)) return false;
  if (typeof signature !== 'string' || !/^[0-9a-f]{128}$/.test(signature)) return false;
  const key = createPublicKey({ key: Buffer.from(ED25519_PREFIX + publicKey, 'hex'), format: 'der', type: 'spki' });
  return verify(null, Buffer.from(text), key, Buffer.from(signature, 'hex'));
}

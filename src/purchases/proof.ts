/** A payer's proof that an address is its own. The chain's wallets sign it, and nothing in it is believed before. */
import type { SIWxPayload } from '@x402/extensions/sign-in-with-x';
import { Problem, type ProblemDetail } from '../errors.ts';
import { isJsonObject } from '../json.ts';
import { addressFault, checksumAddress } from '../on-chain/address.ts';
import { PROOF_LASTS_MS, signatureType } from './challenge.ts';

/** Bounds the decoding of what strangers send, in bytes. */
const PROOF_LIMIT_BYTES = 8192;

/** Clocks of instances, and of clients that date their proofs themselves, differ by this much. */
const CLOCKS_DIFFER_MS = 5_000;

/** What a proof has to be for. Times are milliseconds since the epoch. */
export interface ProofTerms {
  readonly uri: string;
  /** CAIP-2. */
  readonly chains: readonly string[];
  readonly now: number;
}

const refused = (details: ProblemDetail[]): Problem =>
  new Problem('invalid_request', 'The proof is not taken: details name each field, and what would be taken', {
    details,
  });

const FORM = 'base64 of the JSON that createSIWxPayload of @x402/extensions gives, or that object, at most 8192 bytes';

const unreadable = (message: string): Problem => refused([{ path: '/proof', message, expected: FORM }]);

/** The JSON value that was sent. */
function decode(proof: unknown): unknown {
  if (typeof proof !== 'string' && !isJsonObject(proof)) throw unreadable('is neither text nor an object');
  const sent = typeof proof === 'string' ? proof.trim() : JSON.stringify(proof);
  if (Buffer.byteLength(sent) > PROOF_LIMIT_BYTES) throw unreadable(`is longer than ${PROOF_LIMIT_BYTES} bytes`);
  if (typeof proof !== 'string') return proof;
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(sent)) throw unreadable('is not base64 of one proof');
  try {
    return JSON.parse(Buffer.from(sent, 'base64').toString());
  } catch {
    throw unreadable('is not base64 of JSON');
  }
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/** Not a number where it is no time. */
const timeOf = (text: string): number => (TIME.test(text) ? Date.parse(text) : Number.NaN);

const iso = (at: number): string => new Date(at).toISOString();

/** By the store's clock, on which instances agree; the package's own check of the times goes by the machine's. */
function timeFaults({ issuedAt, expirationTime, notBefore }: SIWxPayload, now: number): ProblemDetail[] {
  const faults: ProblemDetail[] = [];
  const check = (field: keyof SIWxPayload, text: string | undefined, least: number, most: number, wrong: string) => {
    if (text === undefined) return;
    const at = timeOf(text);
    if (at >= least && at <= most) return;
    const bounds = [Number.isFinite(least) && `from ${iso(least)}`, Number.isFinite(most) && `until ${iso(most)}`];
    const expected = `a time ${bounds.filter(Boolean).join(' ')}`;
    faults.push({ path: `/proof/${field}`, message: Number.isNaN(at) ? 'is not a time (RFC 3339)' : wrong, expected });
  };
  const stale = timeOf(issuedAt) > now ? 'lies in the future' : 'is more than five minutes ago: sign a new challenge';
  check('issuedAt', issuedAt, now - PROOF_LASTS_MS, now + CLOCKS_DIFFER_MS, stale);
  check('expirationTime', expirationTime, now, Number.POSITIVE_INFINITY, 'has passed: sign a new challenge');
  check('notBefore', notBefore, Number.NEGATIVE_INFINITY, now + CLOCKS_DIFFER_MS, 'lies in the future');
  return faults;
}

/** As JSON: wallets' messages are parsed by a grammar, which takes its time. */
const LONGEST_FIELD = 1_024;

/** What is longer takes long to decode, or is a contract wallet's. */
const SIGNATURES = { eip191: /^0x[0-9a-fA-F]{130}$/, ed25519: /^[1-9A-HJ-NP-Za-km-z]{64,88}$/ } as const;
const FORMS = { eip191: '65 bytes of hex after 0x: no contract wallet', ed25519: '64 bytes in base58' } as const;

function faultsOf(payload: SIWxPayload, { uri, chains, now }: ProofTerms): ProblemDetail[] {
  const { address, chainId, type, version, nonce, signature, signatureScheme = '' } = payload;
  const faults = timeFaults(payload, now);
  const demand = (isGood: boolean, field: keyof SIWxPayload, message: string, expected: string) => {
    if (!isGood) faults.push({ path: `/proof/${field}`, message, expected });
  };
  for (const field of Object.keys(payload) as (keyof SIWxPayload)[]) {
    const isShort = (JSON.stringify(payload[field]) ?? '').length <= LONGEST_FIELD;
    demand(isShort, field, 'is too long', `at most ${LONGEST_FIELD} characters`);
  }
  const { host } = new URL(uri);
  demand(payload.domain === host, 'domain', 'is another host', host);
  demand(payload.uri === uri, 'uri', 'is another resource', uri);
  demand(version === '1', 'version', 'is not known here', '1');
  demand(/^[a-zA-Z0-9]{8,}$/.test(nonce), 'nonce', 'is no nonce', '8 or more letters and digits');
  demand(chains.includes(chainId), 'chainId', 'is not a network that is paid here', `one of ${chains.join(', ')}`);
  const wanted = signatureType(chainId);
  demand(type === wanted, 'type', 'is not how wallets of this network sign', wanted);
  const fault = addressFault(wanted === 'ed25519' ? 'solana' : 'evm', address);
  demand(fault === undefined, 'address', fault ?? '', 'an address of the network that chainId names');
  demand(SIGNATURES[wanted].test(signature), 'signature', 'has not the form of one', FORMS[wanted]);
  const byContract = signatureScheme === 'eip1271' || signatureScheme === 'eip6492';
  demand(!byContract, 'signatureScheme', 'is that of a contract wallet, which is not taken here', 'eip191 or siws');
  return faults;
}

/**
 * The address that signed, as wallets show it. Takes the header's base64 or the decoded object. A contract wallet's
 * signature (ERC-1271, ERC-6492) only a node could check: it is refused. Throws Problem `invalid_request`, which never
 * repeats what was sent.
 */
export async function verifyProof(proof: unknown, terms: ProofTerms): Promise<string> {
  const sent = decode(proof);
  const { SIWxPayloadSchema, verifySIWxSignature } = await import('@x402/extensions/sign-in-with-x');
  const read = SIWxPayloadSchema.safeParse(sent);
  if (!read.success) {
    const paths = new Set(read.error.issues.map(({ path }) => ['/proof', ...path].join('/')));
    const expected = 'what createSIWxPayload of @x402/extensions gives';
    throw refused([...paths].map((path) => ({ path, message: 'is missing or of another type', expected })));
  }
  const payload = read.data;
  const faults = faultsOf(payload, terms);
  if (faults.length > 0) throw refused(faults);
  // The package throws for texts that no message of EIP-4361 can have.
  const verdict = await verifySIWxSignature(payload).catch(() => undefined);
  if (!verdict?.isValid) {
    const message = 'is not that of this address over these fields';
    const expected = 'the signature of the message (CAIP-122) by the key of the address: no contract wallet';
    throw refused([{ path: '/proof/signature', message, expected }]);
  }
  return payload.type === 'eip191' ? checksumAddress(payload.address) : payload.address;
}

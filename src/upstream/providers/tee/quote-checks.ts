/**
 * Whether a TDX quote was made by genuine hardware and in an environment that is known. Source: Intel TDX DCAP Quoting
 * Library API, appendix A; Intel SGX PCK Certificate and CRL Profile Specification.
 *
 * Everything here is checked offline. Whether Intel has revoked a certificate since, and whether the machine's
 * firmware is up to date, is in collateral that only Intel's service has: that is `unchecked`.
 */
import { createHash, createPublicKey, type KeyObject, verify, X509Certificate } from 'node:crypto';
import { type Checks, outcome } from './checks.ts';
import { type Measurement, readQuote, type TdxQuote } from './tdx-quote.ts';

/** Intel signs its TDX quoting enclave with this key (MRSIGNER) under this product number, as its published QE identity says. */
export const QUOTING_ENCLAVE = {
  signer: 'dc9e2a7c6f948f17474e34a7fc43ed030f7c1563f1babddf6340c82e0e54a8c5',
  productId: 2,
} as const;

/** Subjects of the certificates below the root. Intel's root stands over others as well, which say nothing of hardware. */
export const PCK_LEAF = 'Intel SGX PCK Certificate';
const PCK_ISSUERS: readonly string[] = ['Intel SGX PCK Platform CA', 'Intel SGX PCK Processor CA'];

const SGX_DEBUG = 0x02;
const TD_DEBUG = 0x01;

/** Some of an environment's measurements, in hex. */
export type KnownMeasurements = Readonly<Partial<Record<Measurement, string>>>;

export interface Trust {
  /** PEM of the only certificate that chains may end in. */
  readonly root: string;
  /** The environments that may answer; undefined: any. */
  readonly measurements: readonly KnownMeasurements[] | undefined;
}

/**
 * Reads a report's quote and checks it. `reportData` is what it has to bind, 64 bytes in hex; `now` in milliseconds.
 * Never throws: what cannot be read does not hold.
 */
export function checkedQuote(
  given: unknown,
  reportData: string,
  { trust, now }: { trust: Trust; now: number },
): { checks: Checks; measurements: TdxQuote['measurements'] | null } {
  const quote = readQuote(given);
  if (quote === undefined) return { checks: { quote: { fault: 'the report has no TDX quote' } }, measurements: null };
  const isBound = quote.reportData === reportData;
  return {
    checks: {
      report_data: outcome(isBound, 'the quote does not bind the signing key to the nonce'),
      ...checkQuote(quote, trust, now),
    },
    measurements: quote.measurements,
  };
}

function checkQuote(quote: TdxQuote, { root, measurements }: Trust, now: number): Checks {
  const { quotingEnclave, attestationKey, tdAttributes, moduleSigner } = quote;
  const leaf = certifiedLeaf(quote.certificates, new X509Certificate(root), now);
  const isIntels =
    quotingEnclave.signer.toString('hex') === QUOTING_ENCLAVE.signer &&
    quotingEnclave.productId === QUOTING_ENCLAVE.productId &&
    !hasBit(quotingEnclave.attributes, SGX_DEBUG);
  const isEnclaveSigned =
    leaf !== undefined && isSigned(quotingEnclave.report, quotingEnclave.signature, leaf.publicKey);
  const isKeyBound = quotingEnclave.reportData.equals(
    Buffer.concat([sha256(attestationKey, quotingEnclave.authenticationData), Buffer.alloc(32)]),
  );
  const isReportSigned = isSigned(quote.signed, quote.signature, keyOfPoint(attestationKey));
  const isProduction = !hasBit(tdAttributes, TD_DEBUG) && moduleSigner.every((byte) => byte === 0);
  return {
    certificate_chain: outcome(leaf !== undefined, "the quote's certificates do not lead to the trusted root"),
    quoting_enclave: outcome(isEnclaveSigned && isIntels, "the quote does not come from Intel's quoting enclave"),
    attestation_key: outcome(isKeyBound, "the quote's key is not the quoting enclave's"),
    quote_signature: outcome(isReportSigned, "the quote's signature is forged"),
    production_mode: outcome(isProduction, 'the environment can be looked into: it runs in debug mode'),
    measurement: measurements
      ? outcome(
          measurements.some((known) => isKnown(quote.measurements, known)),
          'the environment runs something else than it should',
        )
      : 'unchecked',
    collateral: 'unchecked',
  };
}

const OF_HARDWARE = ['certificate_chain', 'quoting_enclave', 'attestation_key', 'quote_signature'] as const;

/** Whether the checks found a quote that genuine hardware has signed, whatever it runs. */
export const isQuoteGenuine = (checks: Checks): boolean => OF_HARDWARE.every((name) => checks[name] === 'ok');

const isKnown = (measured: TdxQuote['measurements'], known: KnownMeasurements): boolean =>
  Object.entries(known).every(([name, value]) => measured[name as Measurement] === value);

const hasBit = (attributes: Buffer, bit: number): boolean => ((attributes[0] ?? 0) & bit) !== 0;

const sha256 = (...parts: Buffer[]): Buffer => createHash('sha256').update(Buffer.concat(parts)).digest();

/** The leaf of a chain of three, where each is issued by the next and the last has the root's key. */
function certifiedLeaf(pem: string, root: X509Certificate, now: number): X509Certificate | undefined {
  const [leaf, issuer, top, ...rest] = certificatesOf(pem);
  if (!leaf || !issuer || !top || rest.length > 0) return undefined;
  // Intel issued its root several times over with one key.
  if (!top.publicKey.equals(root.publicKey)) return undefined;
  const isPck = commonName(leaf) === PCK_LEAF && PCK_ISSUERS.includes(commonName(issuer) ?? '');
  const holds = isPck && issuer.ca && isIssued(leaf, issuer) && isIssued(issuer, root);
  return holds && [leaf, issuer, root].every((certificate) => isCurrent(certificate, now)) ? leaf : undefined;
}

function certificatesOf(pem: string): X509Certificate[] {
  const texts = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  try {
    return texts.map((text) => new X509Certificate(text));
  } catch {
    return [];
  }
}

/** As results name it; `root` in PEM. */
export const nameOfRoot = (root: string): string => commonName(new X509Certificate(root)) ?? 'unnamed';

const commonName = ({ subject }: X509Certificate): string | undefined => /^CN=(.+)$/m.exec(subject)?.[1];

const isIssued = (certificate: X509Certificate, issuer: X509Certificate): boolean =>
  certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);

const isCurrent = ({ validFrom, validTo }: X509Certificate, now: number): boolean =>
  Date.parse(validFrom) <= now && now <= Date.parse(validTo);

/** Undefined where the point is not on the curve. */
function keyOfPoint(point: Buffer): KeyObject | undefined {
  const [x, y] = [point.subarray(0, 32), point.subarray(32)].map((part) => part.toString('base64url'));
  try {
    return createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' });
  } catch {
    return undefined;
  }
}

/** ECDSA on P-256 with SHA-256; `signature` is `r` and `s`. */
const isSigned = (bytes: Buffer, signature: Buffer, key: KeyObject | undefined): boolean =>
  key?.asymmetricKeyDetails?.namedCurve === 'prime256v1' &&
  verify('sha256', bytes, { key, dsaEncoding: 'ieee-p1363' }, signature);

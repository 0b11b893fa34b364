/**
 * Intel TDX quotes, versions 4 and 5, with an ECDSA P-256 signature. Source: Intel TDX DCAP Quoting Library API,
 * appendix A ("TD quote format"); of the quoting enclave's report, Intel SGX Developer Reference ("Report structure").
 */

const ECDSA_P256 = 2;
const TDX = 0x81;
const HEADER_BYTES = 48;
/** Sizes of a TD report by the type that version 5 puts before it: TDX 1.0 and 1.5, which only adds to the end. */
const BODY_BYTES: Readonly<Record<number, number>> = { 2: 584, 3: 648 };
const TDX_1_0 = 2;
const QE_REPORT_CERTIFICATION = 6;
const PCK_CERTIFICATE_CHAIN = 5;

/** Where each measurement is in a TD report; each has 48 bytes. */
const MEASUREMENTS_AT = {
  mr_td: 136,
  mr_config_id: 184,
  mr_owner: 232,
  mr_owner_config: 280,
  rtmr0: 328,
  rtmr1: 376,
  rtmr2: 424,
  rtmr3: 472,
} as const;

export type Measurement = keyof typeof MEASUREMENTS_AT;
export const measurementNames = Object.keys(MEASUREMENTS_AT) as readonly Measurement[];

/** The parts of a quote that somebody checks. */
export interface TdxQuote {
  /** What the workload had put into the quote: 64 bytes in hex. */
  readonly reportData: string;
  /** What was measured when the environment started and while it runs: 48 bytes each, in hex. */
  readonly measurements: Readonly<Record<Measurement, string>>;
  /** The signer of the TDX module: zeros where it is Intel. */
  readonly moduleSigner: Buffer;
  readonly tdAttributes: Buffer;
  /** The bytes that the attestation key signed: header and TD report. */
  readonly signed: Buffer;
  /** `r` and `s`, 32 bytes each. */
  readonly signature: Buffer;
  /** `x` and `y` of a point on P-256. */
  readonly attestationKey: Buffer;
  readonly quotingEnclave: {
    readonly report: Buffer;
    readonly attributes: Buffer;
    readonly signer: Buffer;
    readonly productId: number;
    readonly reportData: Buffer;
    readonly signature: Buffer;
    readonly authenticationData: Buffer;
  };
  /** PEM, the leaf first. */
  readonly certificates: string;
}

/** `quote` is hex or base64; undefined where it is no such quote. Nothing is checked but its form. */
export function readQuote(quote: unknown): TdxQuote | undefined {
  if (typeof quote !== 'string') return undefined;
  const hex = quote.replace(/^0x/, '');
  const bytes = Buffer.from(hex, /^[0-9a-fA-F]+$/.test(hex) ? 'hex' : 'base64');
  try {
    return parse(bytes);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function parse(bytes: Buffer): TdxQuote | undefined {
  const quote = reader(bytes);
  const header = quote.take(HEADER_BYTES);
  const version = header.readUInt16LE(0);
  if (header.readUInt16LE(2) !== ECDSA_P256 || header.readUInt32LE(4) !== TDX) return undefined;
  if (version !== 4 && version !== 5) return undefined;
  const bodyBytes = BODY_BYTES[version === 4 ? TDX_1_0 : quote.uint16()];
  if (bodyBytes === undefined || (version === 5 && quote.uint32() !== bodyBytes)) return undefined;
  const body = quote.take(bodyBytes);
  const signed = bytes.subarray(0, quote.position());
  const proof = reader(quote.take(quote.uint32()));
  const [signature, attestationKey] = [proof.take(64), proof.take(64)];
  if (proof.uint16() !== QE_REPORT_CERTIFICATION) return undefined;
  const certification = reader(proof.take(proof.uint32()));
  const [report, reportSignature] = [certification.take(384), certification.take(64)];
  const authenticationData = certification.take(certification.uint16());
  if (certification.uint16() !== PCK_CERTIFICATE_CHAIN) return undefined;
  const certificates = certification.take(certification.uint32()).toString('latin1');
  return {
    reportData: body.toString('hex', 520, 584),
    measurements: measurementsOf(body),
    moduleSigner: body.subarray(64, 112),
    tdAttributes: body.subarray(120, 128),
    signed,
    signature,
    attestationKey,
    quotingEnclave: {
      report,
      attributes: report.subarray(48, 64),
      signer: report.subarray(128, 160),
      productId: report.readUInt16LE(256),
      reportData: report.subarray(320, 384),
      signature: reportSignature,
      authenticationData,
    },
    certificates,
  };
}

const measurementsOf = (body: Buffer): TdxQuote['measurements'] =>
  Object.fromEntries(
    Object.entries(MEASUREMENTS_AT).map(([name, start]) => [name, body.toString('hex', start, start + 48)]),
  ) as Record<Measurement, string>;

/** Reads on from where the last one ended. Throws RangeError past the end. */
function reader(bytes: Buffer) {
  let at = 0;
  const take = (count: number): Buffer => {
    if (at + count > bytes.length) throw new RangeError('the quote is cut short');
    at += count;
    return bytes.subarray(at - count, at);
  };
  return {
    take,
    uint16: () => take(2).readUInt16LE(0),
    uint32: () => take(4).readUInt32LE(0),
    position: () => at,
  };
}

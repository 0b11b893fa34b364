/**
 * A stand-in for a machine with Intel TDX: it makes quotes whose every signature holds, under a root of its own that only
 * the sandbox trusts. Source of the layout: Intel TDX DCAP Quoting Library API, appendix A.
 */
import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { PCK_LEAF, QUOTING_ENCLAVE } from '../../upstream/providers/tee/quote-checks.ts';
import { certificate } from './certificates.ts';

/** What a quote is asked to say; everything is left at its usual value where it is not named. */
export interface QuoteRequest {
  /** 64 bytes in hex. */
  readonly reportData: string;
  /** 48 bytes each, in hex. */
  readonly measurements?: Readonly<Record<string, string>> | undefined;
  /** Version 5 with the longer report of TDX 1.5. */
  readonly version?: 4 | 5;
  /** True for an environment that its host can look into. */
  readonly isDebug?: boolean;
  /** Of the enclave that vouches for the quote's key; left out, Intel's. */
  readonly enclaveSigner?: string;
}

export interface TdxHardware {
  /** PEM. */
  readonly root: string;
  /** In hex. */
  quote(request: QuoteRequest): string;
}

const ROOT = 'Turnpike Sandbox Root CA';
const PLATFORM = 'Intel SGX PCK Platform CA';
const YEAR_MS = 365 * 86_400_000;
const MEASUREMENTS = ['mr_td', 'mr_config_id', 'mr_owner', 'mr_owner_config', 'rtmr0', 'rtmr1', 'rtmr2', 'rtmr3'];
/** The registers that a machine fills without being asked to. */
const MEASURED = new Set(['mr_td', 'rtmr0', 'rtmr1', 'rtmr2', 'rtmr3']);

const newKey = (): KeyObject => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

const signed = (bytes: Buffer, key: KeyObject): Buffer => sign('sha256', bytes, { key, dsaEncoding: 'ieee-p1363' });

function pointOf(key: KeyObject): Buffer {
  const { x, y } = createPublicKey(key).export({ format: 'jwk' });
  return Buffer.from([x, y].map((part) => Buffer.from(String(part), 'base64url').toString('hex')).join(''), 'hex');
}

const uint16 = (value: number): Buffer => Buffer.from([value & 0xff, value >> 8]);

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

/** Keys and certificates are made afresh. `now` in milliseconds. */
export function openTdxHardware(now: number = Date.now()): TdxHardware {
  const [rootKey, platformKey, pckKey, attestationKey] = [newKey(), newKey(), newKey(), newKey()];
  const validity = { validFrom: new Date(now - YEAR_MS), validTo: new Date(now + 5 * YEAR_MS) };
  const authority = { issuer: ROOT, issuerKey: rootKey, isAuthority: true, ...validity };
  const root = certificate({ ...authority, subject: ROOT, serial: 1, key: rootKey });
  const platform = certificate({ ...authority, subject: PLATFORM, serial: 2, key: platformKey });
  const leaf = certificate({
    subject: PCK_LEAF,
    issuer: PLATFORM,
    serial: 3,
    key: pckKey,
    issuerKey: platformKey,
    isAuthority: false,
    ...validity,
  });
  const chain = Buffer.from(leaf + platform + root);

  function certification(enclaveSigner: string): Buffer {
    const authenticationData = Buffer.alloc(32, 7);
    const report = Buffer.alloc(384);
    report.write(enclaveSigner, 128, 'hex');
    report.writeUInt16LE(QUOTING_ENCLAVE.productId, 256);
    createHash('sha256').update(pointOf(attestationKey)).update(authenticationData).digest().copy(report, 320);
    const data = [uint16(authenticationData.length), authenticationData, uint16(5), uint32(chain.length), chain];
    return Buffer.concat([report, signed(report, pckKey), ...data]);
  }

  return {
    root,
    quote({ reportData, measurements = {}, version = 4, isDebug = false, enclaveSigner = QUOTING_ENCLAVE.signer }) {
      const header = Buffer.alloc(48);
      header.writeUInt16LE(version, 0);
      header.writeUInt16LE(2, 2);
      header.writeUInt32LE(0x81, 4);
      const body = Buffer.alloc(version === 4 ? 584 : 648);
      body.writeUInt8(isDebug ? 1 : 0, 120);
      for (const [index, name] of MEASUREMENTS.entries()) {
        const usual = MEASURED.has(name) ? createHash('sha384').update(name).digest('hex') : '';
        body.write(measurements[name] ?? usual, 136 + 48 * index, 'hex');
      }
      body.write(reportData, 520, 'hex');
      const described = version === 4 ? [] : [uint16(3), uint32(body.length)];
      const signedPart = Buffer.concat([header, ...described, body]);
      const certified = certification(enclaveSigner);
      const proof = Buffer.concat([
        signed(signedPart, attestationKey),
        pointOf(attestationKey),
        uint16(6),
        uint32(certified.length),
        certified,
      ]);
      return Buffer.concat([signedPart, uint32(proof.length), proof]).toString('hex');
    },
  };
}

/** The machine that every double of an attested host runs on. */
export const sandboxHardware: TdxHardware = openTdxHardware();
export const sandboxAttestationRoot: string = sandboxHardware.root;

/** X.509 certificates for keys on P-256, as small as their readers allow. Source: RFC 5280; encoded by ITU-T X.690 (DER). */
import { createPublicKey, type KeyObject, sign } from 'node:crypto';

export interface CertificateRequest {
  readonly subject: string;
  readonly issuer: string;
  readonly serial: number;
  /** Private: its public half is certified. */
  readonly key: KeyObject;
  readonly issuerKey: KeyObject;
  /** True where it certifies others. */
  readonly isAuthority: boolean;
  readonly validFrom: Date;
  readonly validTo: Date;
}

const [BOOLEAN, INTEGER, BIT_STRING, OCTET_STRING, OBJECT_ID, UTF8_STRING, UTC_TIME, SEQUENCE, SET] = [
  0x01, 0x02, 0x03, 0x04, 0x06, 0x0c, 0x17, 0x30, 0x31,
] as const;
const [VERSION, EXTENSIONS] = [0xa0, 0xa3] as const;

const ECDSA_WITH_SHA256 = '2a8648ce3d040302';
const COMMON_NAME = '550403';
const BASIC_CONSTRAINTS = '551d13';

function der(tag: number, ...parts: readonly (Buffer | string)[]): Buffer {
  const content = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'hex') : part)));
  const size = content.length;
  const length = size < 0x80 ? [size] : size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

const nameOf = (commonName: string): Buffer =>
  der(SEQUENCE, der(SET, der(SEQUENCE, der(OBJECT_ID, COMMON_NAME), der(UTF8_STRING, Buffer.from(commonName)))));

const timeOf = (date: Date): Buffer =>
  der(UTC_TIME, Buffer.from(`${date.toISOString().slice(2, 19).replace(/[-:T]/g, '')}Z`));

/** PEM. */
export function certificate(request: CertificateRequest): string {
  const { subject, issuer, serial, key, issuerKey, isAuthority, validFrom, validTo } = request;
  const algorithm = der(SEQUENCE, der(OBJECT_ID, ECDSA_WITH_SHA256));
  const constraints = der(SEQUENCE, ...(isAuthority ? [der(BOOLEAN, 'ff')] : []));
  const extension = der(
    SEQUENCE,
    der(OBJECT_ID, BASIC_CONSTRAINTS),
    der(BOOLEAN, 'ff'),
    der(OCTET_STRING, constraints),
  );
  const body = der(
    SEQUENCE,
    der(VERSION, der(INTEGER, '02')),
    der(INTEGER, Buffer.from([serial])),
    algorithm,
    nameOf(issuer),
    der(SEQUENCE, timeOf(validFrom), timeOf(validTo)),
    nameOf(subject),
    createPublicKey(key).export({ format: 'der', type: 'spki' }),
    der(EXTENSIONS, der(SEQUENCE, extension)),
  );
  const whole = der(SEQUENCE, body, algorithm, der(BIT_STRING, '00', sign('sha256', body, issuerKey)));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

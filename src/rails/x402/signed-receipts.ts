/**
 * Receipts that prove to others what was bought here. Source: x402 specifications, extension `offer-and-receipt`, version
 * 1.0, in its JWS form, with the key in a `did:web` document. Offers are not signed: each price would cost a signature.
 */
import { createPublicKey, sign } from 'node:crypto';
import { canonicalJson } from '../../canonical-json.ts';
import { keyOfSeed } from '../../on-chain/ed25519.ts';

export interface SoldReceipt {
  /** CAIP-2. */
  readonly network: string;
  readonly resourceUrl: string;
  readonly payer: string;
  readonly transaction: string;
  /** Milliseconds since the epoch. */
  readonly settledAt: number;
}

export interface ReceiptSigner {
  /** A compact JWS, the same for the same receipt always. */
  sign(receipt: SoldReceipt): string;
  /** What `/.well-known/did.json` answers: the public key. */
  readonly document: object;
}

const base64url = (text: string): string => Buffer.from(text).toString('base64url');

/** `seed`: 32 bytes in hex, used for receipts alone, into no log or error; `publicUrl`: whose receipts they are. */
export function openReceiptSigner(seed: string, publicUrl: string): ReceiptSigner {
  const key = keyOfSeed(Buffer.from(seed, 'hex'));
  const id = `did:web:${encodeURIComponent(new URL(publicUrl).host)}`;
  const kid = `${id}#receipts`;
  const header = base64url(JSON.stringify({ alg: 'EdDSA', kid }));
  const { kty, crv, x } = createPublicKey(key).export({ format: 'jwk' });
  return {
    sign({ settledAt, ...facts }) {
      const payload = { version: 1, ...facts, issuedAt: Math.floor(settledAt / 1000) };
      const signed = `${header}.${base64url(canonicalJson(payload))}`;
      return `${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`;
    },
    document: {
      '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/suites/jws-2020/v1'],
      id,
      verificationMethod: [{ id: kid, type: 'JsonWebKey2020', controller: id, publicKeyJwk: { kty, crv, x } }],
      assertionMethod: [kid],
    },
  };
}

/** What a payer signs to see what it bought. Source: CAIP-122, as the x402 extension `sign-in-with-x` carries it. */
import { randomBytes } from 'node:crypto';
import type { SIWxExtension } from '@x402/extensions/sign-in-with-x';

/** How long a proof is good, in milliseconds. */
export const PROOF_LASTS_MS = 5 * 60_000;

const STATEMENT = 'Show what this wallet bought here. This costs nothing and moves no money.';

const text = { type: 'string' } as const;
const time = { type: 'string', format: 'date-time' } as const;
const address = { type: 'string', format: 'uri' } as const;

/** What `buildSIWxSchema` gives: the package is loaded once somebody proves something, for it takes half a second. */
const SCHEMA: SIWxExtension['schema'] = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    domain: text,
    address: text,
    statement: text,
    uri: address,
    version: text,
    chainId: text,
    type: text,
    nonce: text,
    issuedAt: time,
    expirationTime: time,
    notBefore: time,
    requestId: text,
    resources: { type: 'array', items: address },
    signature: text,
  },
  required: ['domain', 'address', 'uri', 'version', 'chainId', 'type', 'nonce', 'issuedAt', 'signature'],
};

/** The scheme by which wallets of a chain sign. */
export const signatureType = (chainId: string): 'eip191' | 'ed25519' =>
  chainId.startsWith('solana:') ? 'ed25519' : 'eip191';

/** The extension as clients read it: `createSIWxPayload` takes its `info` with one of `supportedChains`. */
export const createChallenge = (uri: string, chains: readonly string[], now: number): SIWxExtension => ({
  info: {
    domain: new URL(uri).host,
    uri,
    statement: STATEMENT,
    version: '1',
    nonce: randomBytes(16).toString('hex'),
    issuedAt: new Date(now).toISOString(),
    expirationTime: new Date(now + PROOF_LASTS_MS).toISOString(),
  },
  supportedChains: chains.map((chainId) => ({ chainId, type: signatureType(chainId) })),
  schema: SCHEMA,
});

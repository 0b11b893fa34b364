import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { bytesToHex, type Hex } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { encodeBase58 } from '../../on-chain/base58.ts';

/** Keys made anew at every start: none is ever in the code base or good for anything else. */

export interface EvmWallet {
  readonly address: string;
  readonly privateKey: Hex;
}

export interface SolanaWallet {
  readonly address: string;
  /** Base58 of the 64 bytes: seed, then public key. */
  readonly secretKey: string;
}

export function newEvmWallet(): EvmWallet {
  const privateKey = bytesToHex(randomBytes(32));
  return { address: privateKeyToAddress(privateKey), privateKey };
}

export function newSolanaWallet(): SolanaWallet {
  const { d, x } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  const seed = Buffer.from(d ?? '', 'base64url');
  const publicKey = Buffer.from(x ?? '', 'base64url');
  return { address: encodeBase58(publicKey), secretKey: encodeBase58(Buffer.concat([seed, publicKey])) };
}

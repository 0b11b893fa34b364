import { decodeBase58 } from './base58.ts';

/** Base58 of 32 bytes. */
export const isSolanaAddress = (text: string): boolean =>
  /^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text) && decodeBase58(text).length === 32;

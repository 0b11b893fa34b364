/** What API keys look like: `tp_live_` or `tp_sandbox_` and 43 letters and digits that carry 256 bits. */
import { createHash, createHmac, randomBytes } from 'node:crypto';

export type KeyMode = 'live' | 'sandbox';

/** A key in clear: shown once, never kept, never logged. */
export interface KeyText {
  readonly apiKey: string;
  /** Names it in lists, commands and logs; says nothing of the key. */
  readonly id: string;
}

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const KEY_DIGITS = 43;
const ID_DIGITS = 16;
const SHOWN_DIGITS = 4;

const SHAPE = /^tp_(?:live|sandbox)_[0-9A-Za-z]{43}$/;

function base62(bytes: Buffer, length: number): string {
  let rest = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  while (text.length < length) {
    text = DIGITS[Number(rest % 62n)] + text;
    rest /= 62n;
  }
  return text;
}

const prefixOf = (mode: KeyMode): string => `tp_${mode}_`;

/** A key that nobody can guess. */
export const newKey = (mode: KeyMode): KeyText => ({
  apiKey: prefixOf(mode) + base62(randomBytes(32), KEY_DIGITS),
  id: `key_${base62(randomBytes(12), ID_DIGITS)}`,
});

/**
 * The key that belongs to something, such as a payment: always the same one, so that a purchase that is run again, after
 * a failure or a crash, answers the key it made before although only its hash was kept. `secret` keeps others from working
 * it out.
 */
export const derivedKey = (mode: KeyMode, secret: string, owner: string): KeyText => {
  const derive = (what: string) => createHmac('sha256', secret).update(`${what} of ${owner}`).digest();
  return {
    apiKey: prefixOf(mode) + base62(derive('key'), KEY_DIGITS),
    id: `key_${base62(derive('id').subarray(0, 12), ID_DIGITS)}`,
  };
};

export const isKeyText = (text: string): boolean => SHAPE.test(text);

/** What is kept of a key. A plain hash does: 256 random bits cannot be tried out, as passwords can. */
export const hashOf = (apiKey: string): string => createHash('sha256').update(apiKey).digest('hex');

/** `tp_live_a1B2`: enough to tell one's keys apart. */
export const shownOf = (apiKey: string): string => apiKey.slice(0, apiKey.lastIndexOf('_') + 1 + SHOWN_DIGITS);

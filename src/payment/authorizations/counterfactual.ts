/** Signatures of contract wallets that may not exist yet, with the call that deploys them. Source: ERC-6492. */
import { malformed } from './fields.ts';

export interface Counterfactual {
  /** An address in lower case: the contract that deploys the wallet. */
  readonly factory: string;
  /** What it is called with, in hex. */
  readonly calldata: string;
  /** What the wallet itself takes for signed once it exists, in hex. */
  readonly signature: string;
}

/** The last 32 bytes of such a signature. */
const SUFFIX = '6492'.repeat(16);
/** Hexadecimal digits of a word of the ABI. */
const WORD = 64;

export const isCounterfactual = (signature: string): boolean => signature.endsWith(SUFFIX);

/** The number that begins at so many digits; past the end, one that leads nowhere. */
const numberAt = (body: string, at: number): number => Number(`0x${body.slice(at, at + WORD) || 'f'.repeat(WORD)}`);

/** The bytes whose offset stands in a word. Undefined where they are not all there. */
function bytesOf(body: string, word: number): string | undefined {
  const start = numberAt(body, word * WORD) * 2;
  const length = numberAt(body, start) * 2;
  const bytes = body.slice(start + WORD, start + WORD + length);
  return bytes.length === length ? `0x${bytes}` : undefined;
}

/** Undefined for any other signature. `field` names it in errors. Throws Refusal `malformed-credential`. */
export function readCounterfactual(signature: string, field: string): Counterfactual | undefined {
  if (!isCounterfactual(signature)) return undefined;
  const body = signature.slice(2, -WORD);
  const factory = /^0{24}([0-9a-fA-F]{40})/.exec(body)?.[1]?.toLowerCase();
  const [calldata, inner] = [bytesOf(body, 1), bytesOf(body, 2)];
  if (!factory || !calldata || !inner || inner === '0x' || isCounterfactual(inner)) {
    throw malformed(
      field,
      'a factory, what it is called with and the signature of the wallet, as ERC-6492 encodes them, or that signature alone',
    );
  }
  return { factory: `0x${factory}`, calldata, signature: inner };
}

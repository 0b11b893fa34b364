/**
 * `npm run prove-ownership`: signs the gateway's public origin with the key of a pay-to address, so that indexes can
 * tell that who is paid also owns the origin. Discovery documents carry the proofs.
 */
import { sign } from 'node:crypto';
import { privateKeyToAccount } from 'viem/accounts';
import { sameAddress } from '../on-chain/address.ts';
import { decodeBase58, encodeBase58 } from '../on-chain/base58.ts';
import { keyOfPair } from '../on-chain/ed25519.ts';
import { readCommandLine, UsageProblem } from './command-line.ts';

const KEY_VARIABLE = 'TURNPIKE_OWNERSHIP_KEY';
const URL_VARIABLE = 'TURNPIKE_PUBLIC_URL';
const PAY_TO_PREFIX = 'TURNPIKE_PAY_TO_';

/** What is wrong and what to do about it, for a person. Never holds the key. */
class ProofProblem extends Error {}

interface Signer {
  readonly address: string;
  sign(message: string): Promise<string>;
}

const EVM_KEY = /^(?:0x)?([0-9a-fA-F]{64})$/;

function evmSigner(hex: string): Signer {
  const account = privateKeyToAccount(`0x${hex}`);
  return { address: account.address, sign: (message) => account.signMessage({ message }) };
}

/** Takes the 64 bytes that wallets export, seed and public key, and checks that the two belong together. */
function solanaSigner(bytes: Uint8Array): Signer {
  const key = keyOfPair(bytes);
  if (!key) throw new Error('the two halves do not belong together');
  return {
    address: encodeBase58(bytes.subarray(32)),
    sign: async (message) => encodeBase58(sign(null, Buffer.from(message), key)),
  };
}

/** The bytes of a Solana key in base58, or as the list of numbers that solana-keygen writes. */
function solanaBytes(text: string): Uint8Array | undefined {
  try {
    const bytes = text.startsWith('[') ? Uint8Array.from(JSON.parse(text)) : decodeBase58(text);
    return bytes.length === 64 ? bytes : undefined;
  } catch {
    return undefined;
  }
}

function readSigner(environment: NodeJS.ProcessEnv): Signer {
  const text = environment[KEY_VARIABLE]?.trim();
  if (!text) {
    throw new ProofProblem(
      `${KEY_VARIABLE} is missing: set it to the private key of a pay-to address, for this command only. ` +
        "Read it in without leaving it in the shell's history:\n" +
        `  read -rs ${KEY_VARIABLE} && export ${KEY_VARIABLE}`,
    );
  }
  const hex = EVM_KEY.exec(text)?.[1];
  const bytes = hex === undefined ? solanaBytes(text) : undefined;
  try {
    if (hex !== undefined) return evmSigner(hex);
    if (bytes) return solanaSigner(bytes);
  } catch {
    // What is thrown for a number that is no key may quote it.
  }
  throw new ProofProblem(
    `${KEY_VARIABLE} is not a private key: give 0x and 64 hex digits (EVM), or 64 bytes in base58 or as a list (Solana)`,
  );
}

function readOrigin(environment: NodeJS.ProcessEnv): string {
  const text = environment[URL_VARIABLE]?.trim() ?? '';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol)) return url.origin;
  const fault = text === '' ? 'is missing' : 'is not the URL of a web site';
  throw new ProofProblem(`${URL_VARIABLE} ${fault}: set it as the gateway has it, such as https://api.example.com`);
}

/** A proof by a key that is not paid proves nothing. Without pay-to addresses at hand the operator has to compare. */
function checkPaid(environment: NodeJS.ProcessEnv, address: string): string {
  const payTo = Object.entries(environment).flatMap(([name, value]) =>
    name.startsWith(PAY_TO_PREFIX) && value ? [value.trim()] : [],
  );
  if (payTo.length === 0) return `no ${PAY_TO_PREFIX}... variable is set: make sure that this address is paid`;
  if (payTo.some((one) => sameAddress(address, one))) return 'a pay-to address';
  throw new ProofProblem(
    `the key in ${KEY_VARIABLE} belongs to ${address}, which no ${PAY_TO_PREFIX}... variable names: use the key of one that is`,
  );
}

async function main(environment: NodeJS.ProcessEnv): Promise<void> {
  const origin = readOrigin(environment);
  const signer = readSigner(environment);
  const standing = checkPaid(environment, signer.address);
  const proof = await signer.sign(origin);
  const file = `${environment.TURNPIKE_CATALOGUE?.trim() || 'catalogue'}/service.yaml`;
  process.stdout.write(
    `signed   ${origin}\n` +
      `address  ${signer.address} (${standing})\n` +
      `proof    ${proof}\n\n` +
      `Put this into ${file}; if ownershipProofs is there already, add the line to it:\n\n` +
      `ownershipProofs:\n  - "${proof}"\n`,
  );
}

const USAGE = `npm run prove-ownership

  signs ${URL_VARIABLE} with the private key in ${KEY_VARIABLE}, for ownershipProofs in service.yaml`;

async function start(): Promise<void> {
  readCommandLine(USAGE, {}, process.argv.slice(2));
  await main(process.env);
}

start().catch((error: unknown) => {
  if (!(error instanceof ProofProblem || error instanceof UsageProblem)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});

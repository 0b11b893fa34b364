import { execFile } from 'node:child_process';
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { promisify } from 'node:util';
import t from 'tap';
import { verifyMessage } from 'viem';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { parse } from 'yaml';
import { decodeBase58, encodeBase58 } from '../../src/on-chain/base58.ts';
import { wordsFor } from '../words-for.ts';

/** Runs the command in an environment of its own. */
async function prove(environment: Record<string, string>): Promise<{ code: number; stdout: string; stderr: string }> {
  const words = [...wordsFor('src/cli/prove-ownership.ts')];
  try {
    const result = await promisify(execFile)(process.execPath, words, {
      env: { PATH: process.env.PATH, ...environment },
    });
    return { code: 0, ...result };
  } catch (error) {
    return error as { code: number; stdout: string; stderr: string };
  }
}

/** What the command says to put into `service.yaml`. */
function proofOf(stdout: string): string {
  const { ownershipProofs } = parse(stdout.slice(stdout.indexOf('ownershipProofs:\n')));
  return ownershipProofs[0];
}

const origin = 'https://api.example.com';
const evmKey = generatePrivateKey();
const evmAddress = privateKeyToAddress(evmKey);

const pair = generateKeyPairSync('ed25519');
const publicBytes = pair.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
const secretBytes = Buffer.concat([
  pair.privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-32),
  publicBytes,
]);
const solanaAddress = encodeBase58(publicBytes);

t.test('signs the bare origin with an EVM key, as anybody can check', async (t) => {
  const { code, stdout } = await prove({
    TURNPIKE_PUBLIC_URL: `${origin}/`,
    TURNPIKE_OWNERSHIP_KEY: evmKey,
    TURNPIKE_PAY_TO_EVM: evmAddress.toLowerCase(),
  });
  t.equal(code, 0);
  t.match(stdout, evmAddress);
  const signature = proofOf(stdout) as `0x${string}`;
  t.equal(await verifyMessage({ address: evmAddress, message: origin, signature }), true);
});

t.test('signs the bare origin with a Solana key, in either of the forms that wallets export', async (t) => {
  for (const key of [encodeBase58(secretBytes), JSON.stringify([...secretBytes])]) {
    const { code, stdout } = await prove({
      TURNPIKE_PUBLIC_URL: origin,
      TURNPIKE_OWNERSHIP_KEY: key,
      TURNPIKE_PAY_TO_SOLANA: solanaAddress,
    });
    t.equal(code, 0);
    t.match(stdout, solanaAddress);
    const publicKey = createPublicKey(pair.publicKey.export({ format: 'pem', type: 'spki' }));
    t.equal(verify(null, Buffer.from(origin), publicKey, decodeBase58(proofOf(stdout))), true);
  }
});

t.test('refuses a key that is not paid, and names the address', async (t) => {
  const { code, stdout, stderr } = await prove({
    TURNPIKE_PUBLIC_URL: origin,
    TURNPIKE_OWNERSHIP_KEY: evmKey,
    TURNPIKE_PAY_TO_SOLANA: solanaAddress,
  });
  t.equal(code, 1);
  t.equal(stdout, '');
  t.match(stderr, evmAddress);
});

t.test('says which variable is missing or wrong, and never shows a key', async (t) => {
  const mixed = encodeBase58(Buffer.concat([secretBytes.subarray(0, 32), Buffer.alloc(32, 7)]));
  const outOfRange = 'f'.repeat(64);
  for (const [environment, named] of [
    [{ TURNPIKE_OWNERSHIP_KEY: evmKey }, 'TURNPIKE_PUBLIC_URL'],
    [{ TURNPIKE_PUBLIC_URL: 'api.example.com', TURNPIKE_OWNERSHIP_KEY: evmKey }, 'TURNPIKE_PUBLIC_URL'],
    [{ TURNPIKE_PUBLIC_URL: origin }, 'TURNPIKE_OWNERSHIP_KEY'],
    [{ TURNPIKE_PUBLIC_URL: origin, TURNPIKE_OWNERSHIP_KEY: 'open sesame' }, 'TURNPIKE_OWNERSHIP_KEY'],
    [{ TURNPIKE_PUBLIC_URL: origin, TURNPIKE_OWNERSHIP_KEY: mixed }, 'TURNPIKE_OWNERSHIP_KEY'],
    [{ TURNPIKE_PUBLIC_URL: origin, TURNPIKE_OWNERSHIP_KEY: outOfRange }, 'TURNPIKE_OWNERSHIP_KEY'],
  ] as const) {
    const { code, stdout, stderr } = await prove(environment);
    t.equal(code, 1);
    t.match(stderr, named);
    for (const secret of [evmKey.slice(2), mixed, outOfRange, 'open sesame']) t.notMatch(stdout + stderr, secret);
  }
});

/**
 * Signs an EIP-3009 transfer of our own. In a file of its own because its imports take a second: they are loaded with the
 * first one.
 */
import { authorizationTypes } from '@x402/evm';
import { getAddress } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { AssetFile } from '../../catalogue/types.ts';

type Hex = `0x${string}`;

interface Transfer {
  readonly chainId: number;
  /** Into no log or error. */
  readonly privateKey: string;
  readonly asset: AssetFile;
  readonly to: string;
  /** Atomic units. */
  readonly amount: bigint;
  /** 32 bytes: the token takes one transfer of the key with it, and no second. */
  readonly nonce: Hex;
  /** Seconds since the epoch. */
  readonly validBefore: number;
}

export const addressOf = (privateKey: string): string => privateKeyToAccount(privateKey as Hex).address;

/** The `payload` of an x402 payment by `exact`. */
export async function signTransfer({ chainId, privateKey, asset, to, amount, nonce, validBefore }: Transfer) {
  const account = privateKeyToAccount(privateKey as Hex);
  const { name, version, address } = asset;
  const [from, recipient] = [account.address, getAddress(to)];
  const signature = await account.signTypedData({
    domain: { name, version, chainId, verifyingContract: getAddress(address) },
    types: authorizationTypes,
    primaryType: 'TransferWithAuthorization',
    message: { from, to: recipient, value: amount, validAfter: 0n, validBefore: BigInt(validBefore), nonce },
  });
  const authorization = { from, to: recipient, value: String(amount), validAfter: '0', validBefore, nonce };
  return { signature, authorization };
}

/** Wallets of a test's own, as extensions put them into pages. */
import {
  createKeyPairFromBytes,
  getBase58Encoder,
  getTransactionDecoder,
  getTransactionEncoder,
  partiallySignTransaction,
} from '@solana/kit';
import type { Page } from 'playwright-core';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { Gateway } from '../gateway.ts';

const ICON = 'data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4=';

/** What a wallet answers: `{result}`, or `{error}` as EIP-1193 has them. */
type Answer = (method: string, params: readonly unknown[]) => Promise<{ result?: unknown; error?: object }>;

export interface InjectedWallet {
  /** Methods in the order in which they were asked for. */
  readonly asked: readonly string[];
}

/**
 * Announces a wallet named `name` by EIP-6963, before the page's own scripts run. The page's event `test-wallet-changed` has it
 * say that something else is chosen in it.
 */
export async function injectEvmWallet(page: Page, name: string, answer: Answer): Promise<InjectedWallet> {
  const asked: string[] = [];
  await page.exposeFunction('askTestWallet', (method: string, params: readonly unknown[]) => {
    asked.push(method);
    return answer(method, params);
  });
  await page.addInitScript(`{
    const request = async ({ method, params = [] }) => {
      const { result, error } = await askTestWallet(method, params);
      if (error) throw Object.assign(new Error(error.message), error);
      return result;
    };
    const provider = {
      request,
      on(event, tell) {
        if (event === 'chainChanged') addEventListener('test-wallet-changed', tell);
      },
      removeListener(event, tell) {
        if (event === 'chainChanged') removeEventListener('test-wallet-changed', tell);
      },
    };
    const info = { uuid: '6f1a7c02-7a5e-4bd5-9a86-0b1f8a1f6c11', name: ${JSON.stringify(name)}, icon: '${ICON}', rdns: 'test.wallet' };
    const announce = () => dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: Object.freeze({ info, provider }) }));
    addEventListener('eip6963:requestProvider', announce);
  }`);
  return { asked };
}

/** A wallet with a key of its own that signs whatever it is asked to on the chains of `gateway`. */
export function signingWallet(gateway: Pick<Gateway, 'state'>) {
  const account = privateKeyToAccount(generatePrivateKey());
  const chains = Object.values(gateway.state.evm).map(({ chainId }) => `0x${chainId.toString(16)}`);
  let chainId = '0x1';
  const answer: Answer = async (method, params) => {
    if (method === 'eth_accounts' || method === 'eth_requestAccounts') return { result: [account.address] };
    if (method === 'eth_chainId') return { result: chainId };
    if (method === 'wallet_switchEthereumChain') {
      const wanted = (params[0] as { chainId: string }).chainId;
      if (!chains.includes(wanted)) return { error: { code: 4902, message: 'Unrecognized chain' } };
      chainId = wanted;
      return { result: null };
    }
    if (method !== 'eth_signTypedData_v4') return { error: { code: 4200, message: `no ${method}` } };
    return { result: await account.signTypedData(JSON.parse(String(params[1]))) };
  };
  return { account, address: account.address, answer };
}

/** Registers a wallet by the Wallet Standard that signs with a Solana key, base58 of the 64 bytes. */
export async function injectSolanaWallet(page: Page, name: string, secretKey: string): Promise<InjectedWallet> {
  const asked: string[] = [];
  const bytes = getBase58Encoder().encode(secretKey);
  const keys = await createKeyPairFromBytes(bytes);
  const publicKey = [...bytes.slice(32)];
  await page.exposeFunction('signTestTransaction', async (wire: number[]) => {
    asked.push('signTransaction');
    const signed = await partiallySignTransaction([keys], getTransactionDecoder().decode(Uint8Array.from(wire)));
    return [...getTransactionEncoder().encode(signed)];
  });
  const address = await addressOf(publicKey);
  await page.addInitScript(`{
    const chains = ['solana:mainnet', 'solana:devnet'];
    const account = { address: '${address}', publicKey: new Uint8Array(${JSON.stringify(publicKey)}), chains, features: ['solana:signTransaction'] };
    const wallet = {
      version: '1.0.0', name: ${JSON.stringify(name)}, icon: '${ICON}', chains, accounts: [],
      features: {
        'standard:connect': { version: '1.0.0', connect: async () => { wallet.accounts = [account]; return { accounts: [account] }; } },
        'solana:signTransaction': {
          version: '1.0.0', supportedTransactionVersions: [0],
          signTransaction: (...inputs) => Promise.all(inputs.map(async ({ transaction }) =>
            ({ signedTransaction: Uint8Array.from(await signTestTransaction([...transaction])) }))),
        },
      },
    };
    addEventListener('wallet-standard:app-ready', ({ detail }) => detail.register(wallet));
  }`);
  return { asked };
}

async function addressOf(publicKey: readonly number[]): Promise<string> {
  const { getAddressDecoder } = await import('@solana/kit');
  return getAddressDecoder().decode(Uint8Array.from(publicKey));
}

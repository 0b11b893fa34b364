/**
 * The sandbox's wallet as a page meets it: announced like any wallet in a browser, by EIP-6963 for EVM chains and by the
 * Wallet Standard for Solana. Bundled into `generated/sandbox/main.js`, served as `/sandbox/wallet.js`; has no key: whatever is to be signed is sent
 * to `POST /sandbox/wallet`.
 */
import type { Wallet, WalletAccount } from '@wallet-standard/base';

const NAME = 'Sandbox wallet (play money)';

const PICTURE =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#8a5a00"/><path d="M7 11h18v12H7zM7 11l13-4v4M19 17h6" fill="none" stroke="#fff" stroke-width="2"/></svg>';
const ICON = `data:image/svg+xml;base64,${btoa(PICTURE)}` as const;

/** As wallets throw: an error with the code of EIP-1193. */
class WalletProblem extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

interface Answer {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

async function ask(method: string, params: readonly unknown[], chainId?: string): Promise<unknown> {
  const response = await fetch('/sandbox/wallet', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ method, params, chainId }),
  });
  const { result, error } = (await response.json()) as Answer;
  if (error) throw new WalletProblem(error.code, error.message);
  return result;
}

function announceEvm(): void {
  let chainId = '0x0';
  const provider = {
    request: async ({ method, params = [] }: { method: string; params?: readonly unknown[] }) => {
      if (method === 'eth_chainId') return chainId;
      const result = await ask(method, params, chainId);
      if (method === 'wallet_switchEthereumChain') chainId = (params[0] as { chainId: string }).chainId;
      return result;
    },
    // Its account never changes, and its chain only when the page says so.
    on: () => undefined,
    removeListener: () => undefined,
  };
  const info = { uuid: crypto.randomUUID(), name: NAME, icon: ICON, rdns: 'sandbox.turnpike' };
  const detail = Object.freeze({ info: Object.freeze(info), provider });
  const announce = () => dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
  addEventListener('eip6963:requestProvider', announce);
  announce();
}

const bytesOf = (text: string): Uint8Array => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
const textOf = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));

const CHAINS = ['solana:devnet', 'solana:mainnet'] as const;

/** Source: the Wallet Standard's `registerWallet`: whichever of wallet and page comes first, they meet by two events. */
function announceSolana(): void {
  let accounts: readonly WalletAccount[] = [];
  const connect = async () => {
    const known = (await ask('solana_accounts', [])) as { address: string; publicKey: string }[];
    accounts = known.map(({ address, publicKey }) => ({
      address,
      publicKey: bytesOf(publicKey),
      chains: CHAINS,
      features: ['solana:signTransaction'],
    }));
    return { accounts };
  };
  const signTransaction = (...inputs: readonly { readonly transaction: Uint8Array }[]) =>
    Promise.all(
      inputs.map(async ({ transaction }) => ({
        signedTransaction: bytesOf((await ask('solana_signTransaction', [textOf(transaction)])) as string),
      })),
    );
  const wallet: Wallet = {
    version: '1.0.0',
    name: NAME,
    icon: ICON,
    chains: CHAINS,
    get accounts() {
      return accounts;
    },
    features: {
      'standard:connect': { version: '1.0.0', connect },
      'standard:events': { version: '1.0.0', on: () => () => undefined },
      'solana:signTransaction': { version: '1.0.0', supportedTransactionVersions: ['legacy', 0], signTransaction },
    },
  };
  const register = ({ register: take }: { register(wallet: Wallet): void }) => take(wallet);
  dispatchEvent(new CustomEvent('wallet-standard:register-wallet', { detail: register }));
  addEventListener('wallet-standard:app-ready', (event) => register((event as CustomEvent).detail));
}

announceEvm();
announceSolana();

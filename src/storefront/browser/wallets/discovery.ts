/** Which wallets are in this browser: by EIP-6963 for EVM chains, by the Wallet Standard for Solana. */
import { getWallets } from '@wallet-standard/app';
import { createStore } from 'mipd';
import { useEffect, useState } from 'preact/hooks';
import { type EvmProvider, type EvmWallet, type PayingWallet, type SolanaWallet, signsForSolana } from './wallet.ts';

/** A wallet's picture comes as data: whatever else it names is not fetched, and who names none is a wallet all the same. */
const dataOnly = (icon: unknown): string => (typeof icon === 'string' && icon.startsWith('data:image/') ? icon : '');

/** As the sandbox's own wallet announces itself. */
const SANDBOX: string = 'sandbox.turnpike';

let evm: ReturnType<typeof createStore> | undefined;

function evmWallets(): EvmWallet[] {
  const found = evm?.getProviders() ?? [];
  return found.map(({ info, provider }) => ({
    family: 'evm',
    id: `evm ${info.uuid}`,
    name: info.name,
    icon: dataOnly(info.icon),
    isSandbox: info.rdns === SANDBOX,
    provider: provider as unknown as EvmProvider,
  }));
}

const solanaWallets = (): SolanaWallet[] =>
  getWallets()
    .get()
    .filter(signsForSolana)
    .map((wallet) => ({
      family: 'solana',
      id: `solana ${wallet.name}`,
      name: wallet.name,
      icon: dataOnly(wallet.icon),
      isSandbox: false,
      wallet,
    }));

/** The wallets that have said so far that they are there. */
export function useWallets(): readonly PayingWallet[] {
  const [wallets, setWallets] = useState<readonly PayingWallet[]>([]);
  useEffect(() => {
    evm ??= createStore();
    const read = () => setWallets([...evmWallets(), ...solanaWallets()]);
    const standard = getWallets();
    const stops = [evm.subscribe(read), standard.on('register', read), standard.on('unregister', read)];
    read();
    return () => {
      for (const stop of stops) stop();
    };
  }, []);
  return wallets;
}

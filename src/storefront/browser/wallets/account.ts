/** The account with which a wallet would pay, as far as it has shown it, followed while it changes. */
import { useEffect, useState } from 'preact/hooks';
import type { EvmWallet, PayingWallet, SolanaWallet } from './wallet.ts';

type Follow = (tell: (address: string | undefined) => void) => () => void;

const followEvm =
  ({ provider }: EvmWallet): Follow =>
  (tell) => {
    const changed = (accounts: readonly string[]) => tell(accounts[0]);
    const read = () =>
      provider.request({ method: 'eth_accounts' }).then(
        (accounts) => changed(accounts as string[]),
        () => tell(undefined),
      );
    provider.on('accountsChanged', changed);
    provider.on('chainChanged', read);
    void read();
    return () => {
      provider.removeListener('accountsChanged', changed);
      provider.removeListener('chainChanged', read);
    };
  };

const followSolana =
  ({ wallet }: SolanaWallet): Follow =>
  (tell) => {
    const read = () => tell(wallet.accounts[0]?.address);
    read();
    return wallet.features['standard:events']?.on('change', read) ?? (() => undefined);
  };

/** Asks for nothing that opens a wallet's window. */
export function useAccount(wallet: PayingWallet | undefined): string | undefined {
  const [address, setAddress] = useState<string>();
  // A wallet is found anew with every announcement; its id stays.
  useEffect(() => {
    setAddress(undefined);
    if (!wallet) return undefined;
    return (wallet.family === 'evm' ? followEvm(wallet) : followSolana(wallet))(setAddress);
  }, [wallet?.id]);
  return address;
}

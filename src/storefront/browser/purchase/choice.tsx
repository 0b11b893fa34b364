import type { PayingWallet } from '../wallets/wallet.ts';
import type { Offer } from './offers.ts';

interface NetworkProps {
  readonly offers: readonly Offer[];
  readonly chosen: Offer;
  readonly isDisabled: boolean;
  onChoose(key: string): void;
}

const TERMS: Readonly<Record<string, string>> = {
  upto: ', charged by use (needs Permit2)',
  'auth-capture': ', locked until the answer is there',
  'batch-settlement': ', from a deposit',
};

const nameOf = ({ accepted, network }: Offer): string =>
  `${network.name}, ${network.asset.symbol}${TERMS[accepted.scheme] ?? ''}`;

export function NetworkChoice({ offers, chosen, isDisabled, onChoose }: NetworkProps) {
  return (
    <label class="field">
      <span>Network</span>
      <select value={chosen.key} disabled={isDisabled} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
        {offers.map((offer) => (
          <option key={offer.key} value={offer.key}>
            {nameOf(offer)}
          </option>
        ))}
      </select>
    </label>
  );
}

interface WalletProps {
  /** Those that sign for the chosen network. */
  readonly wallets: readonly PayingWallet[];
  readonly family: PayingWallet['family'];
  readonly chosen: PayingWallet | undefined;
  readonly isDisabled: boolean;
  onChoose(id: string): void;
}

export function WalletChoice({ wallets, family, chosen, isDisabled, onChoose }: WalletProps) {
  if (wallets.length === 0) {
    return (
      <p class="notice">
        No wallet for {family === 'evm' ? 'EVM chains' : 'Solana'} was found in this browser. Open this page where one
        is installed, choose another network, or pay from a program: the snippets show how.
      </p>
    );
  }
  return (
    <fieldset class="wallets" disabled={isDisabled}>
      <legend>Wallet</legend>
      {wallets.map(({ id, name, icon }) => (
        <label key={id}>
          <input type="radio" name="wallet" checked={id === chosen?.id} onChange={() => onChoose(id)} />
          {icon !== '' && <img src={icon} alt="" width="24" height="24" />}
          {name}
        </label>
      ))}
    </fieldset>
  );
}

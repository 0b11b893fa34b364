/** Signs an x402 payment with a Solana wallet. Loaded when it is first paid with. */
import {
  type Address,
  address,
  getTransactionDecoder,
  getTransactionEncoder,
  type TransactionModifyingSigner,
} from '@solana/kit';
import type { WalletAccount } from '@wallet-standard/base';
import { x402Client, x402HTTPClient } from '@x402/core/client';
import type { PaymentRequired } from '@x402/core/types';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import type { Accepted } from '../purchase/types.ts';
import type { SignedPayment } from './signed-payment.ts';
import { checkTransaction } from './solana-check.ts';
import { type SolanaWallet, WalletProblem, walletProblem } from './wallet.ts';

/** As the Wallet Standard names what CAIP-2 names by genesis hashes. */
const CHAINS: Readonly<Record<string, `solana:${string}`>> = {
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp': 'solana:mainnet',
  'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1': 'solana:devnet',
  'solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z': 'solana:testnet',
};

async function accountOf({ wallet, name }: SolanaWallet, chain: string): Promise<WalletAccount> {
  const { accounts } = wallet.accounts.length > 0 ? wallet : await wallet.features['standard:connect'].connect();
  const account = accounts.find(({ chains }) => chains.some((each) => each === chain));
  if (account) return account;
  throw new WalletProblem(`${name} has no account on ${chain}: switch its network, then click again.`);
}

type Signable = Parameters<TransactionModifyingSigner['modifyAndSignTransactions']>[0][number];
type Signed = Awaited<ReturnType<TransactionModifyingSigner['modifyAndSignTransactions']>>[number];

/** Some wallets add instructions that guard their user, so what comes back is checked like what was asked for. */
const signerOf = ({ wallet }: SolanaWallet, account: WalletAccount, offer: Accepted): TransactionModifyingSigner => {
  const signer: Address = address(account.address);
  const chain = CHAINS[offer.network];
  const sign = async (transaction: Signable): Promise<Signed> => {
    await checkTransaction(transaction.messageBytes, offer, signer);
    const [output] = await wallet.features['solana:signTransaction'].signTransaction({
      account,
      transaction: new Uint8Array(getTransactionEncoder().encode(transaction)),
      ...(chain && { chain }),
    });
    if (!output) throw new WalletProblem('The wallet gave nothing back. Nothing was sent.');
    const signed = getTransactionDecoder().decode(output.signedTransaction);
    await checkTransaction(signed.messageBytes, offer, signer);
    // How long it is good stays as it was: the wallet changes no blockhash.
    return { ...transaction, ...signed } as Signed;
  };
  return { address: signer, modifyAndSignTransactions: (transactions) => Promise.all(transactions.map(sign)) };
};

/** `rpcUrl`: the gateway's own node. Throws WalletProblem. */
export async function signWithSolanaWallet(
  wallet: SolanaWallet,
  offer: Accepted,
  required: PaymentRequired,
  rpcUrl: string,
): Promise<SignedPayment> {
  try {
    const account = await accountOf(wallet, CHAINS[offer.network] ?? offer.network);
    const scheme = new ExactSvmScheme(signerOf(wallet, account, offer), { rpcUrl });
    const client = new x402Client(() => offer).register(offer.network, scheme);
    // What it may cost was looked at by the person who clicked.
    client.setSpendControls(false);
    const payload = await client.createPaymentPayload({ ...required, accepts: [offer] });
    return { from: account.address, headers: new x402HTTPClient(client).encodePaymentSignatureHeader(payload) };
  } catch (error) {
    throw walletProblem(error, wallet.name);
  }
}

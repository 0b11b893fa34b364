/** Calls that are drawn from a deposit with an EVM wallet. Loaded where that is offered. */
import type { PaymentRequired } from '@x402/core/types';
import type { Deposit } from '../../../client/deposits.ts';
import { readChannelOffer } from '../../../client/offers.ts';
import { askBack, mayHaveLeft } from '../../../client/refund.ts';
import { openSending } from '../../../client/sending.ts';
import type { Challenge } from '../../../client/wallet.ts';
import { x402Header } from '../../../client/x402.ts';
import { BATCH_SETTLEMENT } from '../../../on-chain/escrow-contracts.ts';
import { CHANNELS_PATH } from '../../../paths.ts';
import type { ShownNetwork } from '../../wallets/shown-network.ts';
import type { Offer } from '../purchase/offers.ts';
import type { Accepted } from '../purchase/types.ts';
import { accountOf, askSignature, switchTo } from '../wallets/evm-account.ts';
import type { TypedData } from '../wallets/evm-check.ts';
import type { SignedPayment } from '../wallets/signed-payment.ts';
import { type EvmWallet, type PayingWallet, WalletProblem, walletProblem } from '../wallets/wallet.ts';
import { assetOf, holdDeposits, isHeld, lookAtDeposits } from './held.ts';

/** How deposits stand before a call that is drawn from one. */
export interface Standing {
  /** Atomic units that have to be deposited for it first; 0: nothing. */
  readonly deposit: bigint;
  /** Earlier deposits on the network that may have something left. */
  readonly left: readonly Deposit[];
}

/** Whether it is offered by terms that are signed here. */
function isSound(accepted: Accepted, network: ShownNetwork): boolean {
  const asset = assetOf(network);
  return asset !== undefined && readChannelOffer({ ...accepted }, [asset]) !== undefined;
}

const challengeOf = ({ accepted }: Offer, required?: PaymentRequired): Challenge => ({
  accepts: [{ ...accepted }],
  resource: required?.resource,
  extensions: required?.extensions,
});

/** `account` undefined: not known yet. Throws where what is kept cannot be read. */
async function standingOf(
  account: string | undefined,
  offer: Offer,
  networks: readonly ShownNetwork[],
): Promise<Standing> {
  const deposits = lookAtDeposits(account, networks);
  const challenge = challengeOf(offer);
  const [found] = deposits.offers(challenge);
  const drawing = found && (await deposits.draw(found, challenge));
  const all = await deposits.list();
  const left = all.filter((each) => each.network === offer.network.id && mayHaveLeft(each));
  return { deposit: drawing?.deposit ?? 0n, left };
}

/** Has the wallet asked for vouchers, and for one deposit of as much as was agreed to; 0: for none. */
function asking({ provider }: EvmWallet, account: `0x${string}`, agreed: bigint) {
  let isDeposited = agreed === 0n;
  return async (data: TypedData) => {
    if (data.primaryType !== 'Voucher') {
      if (isDeposited || data.message.value !== agreed)
        throw new WalletProblem('Another deposit would be signed than was shown. Nothing was signed.');
      isDeposited = true;
    }
    return askSignature(provider, account, data);
  };
}

interface Drawn {
  readonly wallet: PayingWallet;
  readonly offer: Offer;
  readonly networks: readonly ShownNetwork[];
  /** Atomic units that the button says are deposited first. */
  readonly agreed: bigint;
}

const DEPOSITS_CHANGED =
  'What has to be deposited is not what the button said: look at it, then click again. Nothing was signed.';

/** Throws WalletProblem. */
async function signFromDeposit(
  { wallet, offer, networks, agreed }: Drawn,
  required: PaymentRequired,
): Promise<SignedPayment> {
  if (wallet.family !== 'evm') throw new WalletProblem('Deposits are made with wallets for EVM chains.');
  let leave: () => void = () => undefined;
  try {
    const held = await holdDeposits(await accountOf(wallet), networks);
    leave = held.leave;
    const { deposits, account } = held;
    const challenge = challengeOf(offer, required);
    const [found] = deposits.offers(challenge);
    const drawing = found && (await deposits.draw(found, challenge));
    const deposited = drawing?.deposit ?? 0n;
    if (!drawing || (deposited !== 0n && deposited !== agreed)) throw new WalletProblem(DEPOSITS_CHANGED);
    await switchTo(offer.accepted, offer.network.name, wallet);
    held.signWith(asking(wallet, account, deposited));
    const payment = await drawing.sign();
    const drawn = { ...openSending(drawing, payment), deposited, free: drawing.free, leave };
    return { from: account, headers: x402Header(payment), drawn };
  } catch (error) {
    leave();
    throw walletProblem(error, wallet.name);
  }
}

/** Asks the gateway for what a deposit has left, and tells what became of it. Never throws. */
async function takeBack(
  { wallet, offer, networks }: Omit<Drawn, 'agreed'>,
  { channel, network }: Deposit,
): Promise<string> {
  if (wallet.family !== 'evm') return 'Deposits are made with wallets for EVM chains.';
  let leave: () => void = () => undefined;
  let refusal: unknown;
  try {
    const account = await accountOf(wallet);
    const isOpen = isHeld(account);
    const held = await holdDeposits(account, networks);
    if (!isOpen) leave = held.leave;
    await switchTo(offer.accepted, offer.network.name, wallet);
    const sign = asking(wallet, held.account, 0n);
    held.signWith((data) =>
      sign(data).catch((error: unknown) => {
        refusal = error;
        throw error;
      }),
    );
    const back = await askBack(held.deposits, { channel, network }, (headers) =>
      fetch(CHANNELS_PATH, { headers, cache: 'no-store' }),
    );
    if (refusal !== undefined) throw refusal;
    if (!back.ok) return `The gateway has not said that anything came back: ${back.message}.`;
    return back.transaction === undefined
      ? 'Nothing is left of the deposit: it came back before, or was never made.'
      : `${back.amount} ${offer.network.asset.symbol} came back, by the transaction ${back.transaction}.`;
  } catch (error) {
    return walletProblem(error, wallet.name).message;
  } finally {
    leave();
  }
}

export const drawing = {
  /** Which contract deposits lie in. */
  contract: BATCH_SETTLEMENT as string,
  isSound,
  standingOf,
  signFromDeposit,
  takeBack,
};

export type Drawing = typeof drawing;

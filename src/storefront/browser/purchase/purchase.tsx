import { useEffect, useState } from 'preact/hooks';
import type { ShownNetwork } from '../../wallets/shown-network.ts';
import { DepositShown, drawInWords } from '../deposits/deposit.tsx';
import { useDrawing, useStanding } from '../deposits/use-deposit.ts';
import { useAccount } from '../wallets/account.ts';
import { useWallets } from '../wallets/discovery.ts';
import type { PayingWallet } from '../wallets/wallet.ts';
import { NetworkChoice, WalletChoice } from './choice.tsx';
import { Copyable } from './copyable.tsx';
import { useNetworks } from './networks.ts';
import { isFromDeposit, type Offer, offersIn } from './offers.ts';
import type { FromDeposit } from './pay.ts';
import { ResultShown } from './result.tsx';
import { Steps } from './steps.tsx';
import type { CallRequest, Quote } from './types.ts';
import { type Purchasing, usePurchasing } from './use-purchasing.ts';

export interface PurchaseProps {
  /** Undefined where the form does not say a request yet. */
  readonly call: () => CallRequest | undefined;
  /** Undefined until the price of what the form says is known. */
  readonly quote: Quote | undefined;
  readonly isSandbox: boolean;
}

/** Announces itself like any wallet. In live mode there is no such file. */
const SANDBOX_WALLET: string = '/sandbox/wallet.js';

interface FormProps {
  readonly quote: Quote;
  readonly networks: readonly ShownNetwork[];
  readonly purchasing: Purchasing;
  onPay(offer: Offer, wallet: PayingWallet, fromDeposit: FromDeposit | undefined): void;
}

/** The network, the wallet, and the one button that has anything signed: it says how much, of what and where. */
function PayForm({ quote, networks, purchasing, onPay }: FormProps) {
  const wallets = useWallets();
  const drawing = useDrawing(quote);
  const offers = offersIn(quote, networks, drawing?.isSound);
  const [wantedOffer, setWantedOffer] = useState<string>();
  const [wantedWallet, setWantedWallet] = useState<string>();
  const isSignable = ({ network }: Offer) => wallets.some(({ family }) => family === network.family);
  const offer = offers.find(({ key }) => key === wantedOffer) ?? offers.find(isSignable) ?? offers[0];
  const able = wallets.filter(({ family }) => family === offer?.network.family);
  const wallet = able.find(({ id }) => id === wantedWallet) ?? able[0];
  const account = useAccount(wallet);
  const { isUnderWay, isOpen, turn } = purchasing;
  const { standing, problem } = useStanding(drawing, offer, account, networks, turn);
  const [playOnly, setPlayOnly] = useState<string>();
  if (!offer) return <p class="notice">None of the networks on which this is sold can be paid on in a browser.</p>;
  const isDrawn = isFromDeposit(offer);
  const mayBeReal = offer.network.isAlsoLive && wallet !== undefined && !wallet.isSandbox;
  // What is ticked is said of one account, and of no other that is chosen afterwards.
  const asked = JSON.stringify([offer.network.id, wallet?.id, account]);
  const isPlay = playOnly === asked;
  const isBlocked = isUnderWay || isOpen || !wallet || (mayBeReal && !isPlay);
  const price = standing ? drawInWords(offer, standing) : `Pay ${offer.price}`;
  return (
    <form
      // What was chosen is kept, though nothing can be paid while a payment may still bring its result.
      hidden={isOpen && !isUnderWay}
      onSubmit={(event) => {
        event.preventDefault();
        const fromDeposit = drawing && standing && { drawing, agreed: standing.deposit };
        if (wallet && !(isDrawn && !fromDeposit)) onPay(offer, wallet, isDrawn ? fromDeposit : undefined);
      }}
    >
      <NetworkChoice offers={offers} chosen={offer} isDisabled={isUnderWay} onChoose={setWantedOffer} />
      <WalletChoice
        wallets={able}
        family={offer.network.family}
        chosen={wallet}
        isDisabled={isUnderWay}
        onChoose={setWantedWallet}
      />
      {account && (
        <p class="quiet">
          From <Copyable text={account} what="your account" />
        </p>
      )}
      {mayBeReal && (
        <label class="notice">
          <input type="checkbox" checked={isPlay} onChange={() => setPlayOnly(isPlay ? undefined : asked)} /> What is
          signed here is good on the live {offer.network.name}, too, which has the same number. This account has no real
          money.
        </label>
      )}
      {isDrawn && problem !== undefined && <p class="notice">{problem}</p>}
      {isDrawn && drawing && standing && (
        <DepositShown
          offer={offer}
          standing={standing}
          contract={drawing.contract}
          isDisabled={isBlocked}
          onTakeBack={(deposit) => {
            if (wallet) void purchasing.say(() => drawing.takeBack({ wallet, offer, networks }, deposit));
          }}
        />
      )}
      <button type="submit" class="primary" disabled={isBlocked || (isDrawn && !standing)}>
        {isUnderWay ? 'Under way…' : price}
      </button>
    </form>
  );
}

/** Pays for the request that the form says, and shows how that goes and what comes of it. */
export function Purchase({ call, quote, isSandbox }: PurchaseProps) {
  const { networks, askAgain } = useNetworks();
  const purchasing = usePurchasing(quote);
  const { shownQuote, steps, result, notice, failure, isUnderWay, isOpen } = purchasing;
  useEffect(() => {
    // Without it the other wallets are there all the same.
    if (isSandbox) import(SANDBOX_WALLET).catch(() => undefined);
  }, [isSandbox]);
  return (
    <section class="purchase" aria-label="Pay">
      {!shownQuote && <p class="quiet">Fill in the form to see what your request costs, and to pay for it.</p>}
      {askAgain && (
        <p class="notice" role="alert">
          How this is paid could not be asked.{' '}
          <button type="button" onClick={askAgain}>
            Ask again
          </button>
        </p>
      )}
      {shownQuote && networks && (
        <PayForm
          quote={shownQuote}
          networks={networks}
          purchasing={purchasing}
          onPay={(offer, wallet, fromDeposit) => {
            const request = call();
            if (request) void purchasing.pay({ call: request, offer, wallet, networks, fromDeposit });
          }}
        />
      )}
      {notice !== undefined && (
        <p class="notice" role="alert">
          {notice}
        </p>
      )}
      {failure?.canAskAgain && (
        <button type="button" class="primary" disabled={isUnderWay} onClick={() => void purchasing.askAgain()}>
          Ask again with the same payment
        </button>
      )}
      {isOpen && !isUnderWay && (
        <button type="button" onClick={purchasing.forget}>
          Forget this payment
        </button>
      )}
      {steps.length > 0 && <Steps steps={steps} />}
      {result && <ResultShown result={result} />}
    </section>
  );
}

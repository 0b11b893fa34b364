/** The state of one purchase after the other. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { forgetPayment, keptPayment } from './kept-payment.ts';
import { type Order, type Outcome, pay, send } from './pay.ts';
import type { Payment } from './payment.ts';
import { type Failure, lost } from './problem.ts';
import { type Result, type Step, type Watcher, withStep } from './progress.ts';
import type { Quote } from './types.ts';

export interface Purchasing {
  /** What the button says: the form's, or a later one that the gateway gave in its place. */
  readonly shownQuote: Quote | undefined;
  readonly steps: readonly Step[];
  readonly result: Result | undefined;
  /** What has to be read. */
  readonly notice: string | undefined;
  readonly failure: Failure | undefined;
  readonly isUnderWay: boolean;
  /** A payment was signed and sent, and it is not known what came of it: no other is made meanwhile. */
  readonly isOpen: boolean;
  /** Another one after whatever may have moved money. */
  readonly turn: number;
  pay(order: Order): Promise<void>;
  /** Does something else meanwhile, and says what it answers. */
  say(act: () => Promise<string>): Promise<void>;
  /** Sends the payment that brought no result once more, as it is. */
  askAgain(): Promise<void>;
  /** Gives it up, whatever it has cost: another may be made. */
  forget(): void;
}

const REPRICED = 'The price has changed, so nothing was signed. Look at the new price on the button, then click again.';

/** Who leaves now may never see what was paid for. */
function useWarning(isNeeded: boolean): void {
  useEffect(() => {
    if (!isNeeded) return undefined;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', warn);
    return () => removeEventListener('beforeunload', warn);
  }, [isNeeded]);
}

export function usePurchasing(quote: Quote | undefined): Purchasing {
  const [later, setLater] = useState<{ readonly than: Quote | undefined; readonly quote: Quote }>();
  const [steps, setSteps] = useState<readonly Step[]>([]);
  const [result, setResult] = useState<Result>();
  // Of a page that was left before its answer came.
  const [payment, setPayment] = useState<Payment | undefined>(keptPayment);
  const [failure, setFailure] = useState<Failure | undefined>(payment && lost);
  const [notice, setNotice] = useState<string | undefined>(failure?.words);
  const [isUnderWay, setUnderWay] = useState(false);
  const [turn, setTurn] = useState(0);
  // At once, where the state is there with the next drawing only.
  const isBusy = useRef(false);
  const isOpen = payment !== undefined && !failure?.isUncharged;
  useWarning(isOpen);

  const watcher: Watcher = { step: (step) => setSteps((known) => withStep(known, step)), result: setResult };

  function giveUp(): void {
    forgetPayment();
    setPayment(undefined);
  }

  function ended(outcome: Outcome): void {
    if (outcome.kind === 'repriced') {
      setLater({ than: quote, quote: outcome.quote });
      setNotice(REPRICED);
    } else if (outcome.kind === 'unpaid') {
      setNotice(outcome.words);
    } else if (outcome.kind === 'failed') {
      setFailure(outcome.failure);
      setNotice(outcome.failure.words);
      const { canAskAgain, isUncharged } = outcome.failure;
      // What took nothing need not outlive the page.
      if (!canAskAgain || isUncharged) forgetPayment();
      setPayment(canAskAgain ? outcome.payment : undefined);
    } else {
      giveUp();
    }
  }

  async function once(act: () => Promise<void>): Promise<void> {
    if (isBusy.current) return;
    isBusy.current = true;
    setUnderWay(true);
    setNotice(undefined);
    try {
      await act();
    } finally {
      isBusy.current = false;
      setUnderWay(false);
      setTurn((before) => before + 1);
    }
  }

  const buy = (act: () => Promise<Outcome>): Promise<void> =>
    once(async () => {
      setFailure(undefined);
      setResult(undefined);
      ended(await act());
    });

  return {
    shownQuote: later && later.than === quote ? later.quote : quote,
    steps,
    result,
    notice,
    failure,
    isUnderWay,
    isOpen,
    turn,
    pay: (order) =>
      buy(() => {
        setSteps([]);
        // One that brought nothing and took nothing: another takes its place.
        payment?.signed.drawn?.leave();
        giveUp();
        return pay(order, watcher, setPayment);
      }),
    askAgain: async () => {
      if (payment) await buy(() => send(payment, watcher));
    },
    forget: () => {
      payment?.signed.drawn?.leave();
      giveUp();
      setFailure(undefined);
      setNotice(undefined);
    },
    say: (act) => once(async () => setNotice(await act())),
  };
}

/** How the deposits of an account stand, followed while calls are drawn from them. */
import { useEffect, useState } from 'preact/hooks';
import type { ShownNetwork } from '../../wallets/shown-network.ts';
import { DEPOSIT, isFromDeposit, type Offer } from '../purchase/offers.ts';
import type { Quote } from '../purchase/types.ts';
import type { Drawing, Standing } from './draw.ts';

/** A browser that cannot keep two tabs apart draws from no deposit. */
const hasLocks = (): boolean => 'locks' in navigator;

let loaded: Promise<Drawing> | undefined;

/** Loaded once a quote offers it; undefined until then, and where it cannot be used. */
export function useDrawing({ paymentRequired }: Quote): Drawing | undefined {
  const [drawing, setDrawing] = useState<Drawing>();
  const isOffered = hasLocks() && paymentRequired.accepts.some(({ scheme }) => scheme === DEPOSIT);
  useEffect(() => {
    if (!isOffered) return;
    loaded ??= import('./draw.ts').then(({ drawing }) => drawing);
    loaded.then(setDrawing, () => {
      loaded = undefined;
    });
  }, [isOffered]);
  return isOffered ? drawing : undefined;
}

export interface Followed {
  /** Undefined until it is known. */
  readonly standing: Standing | undefined;
  /** Why it never will be. */
  readonly problem: string | undefined;
}

const UNKNOWN: Followed = { standing: undefined, problem: undefined };

/** Of the deposits that a chosen offer would be drawn from. `turn` changes when they may have changed. */
export function useStanding(
  drawing: Drawing | undefined,
  offer: Offer | undefined,
  account: string | undefined,
  networks: readonly ShownNetwork[],
  turn: unknown,
): Followed {
  const [read, setRead] = useState({ key: '', followed: UNKNOWN });
  const chosen = offer && isFromDeposit(offer) ? offer : undefined;
  const key = chosen ? `${account} ${JSON.stringify(chosen.accepted)}` : '';
  useEffect(() => {
    if (!drawing || !chosen) return undefined;
    let isLeft = false;
    const tell = (followed: Followed) => isLeft || setRead({ key, followed });
    const look = () =>
      drawing.standingOf(account, chosen, networks).then(
        (standing) => tell({ standing, problem: undefined }),
        (error: Error) => tell({ standing: undefined, problem: error.message }),
      );
    void look();
    // Another tab has drawn from them.
    addEventListener('storage', look);
    return () => {
      isLeft = true;
      removeEventListener('storage', look);
    };
  }, [drawing, key, networks, turn]);
  return chosen && read.key === key ? read.followed : UNKNOWN;
}

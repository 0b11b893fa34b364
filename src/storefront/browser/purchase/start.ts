/** Puts paying onto the page of an endpoint that is paid for in a browser. */
import { keptPayment } from './kept-payment.ts';
import type { CallRequest, Quote } from './types.ts';

/** `call`: what the form says now. Answers how to say what that costs; undefined: nothing that can be paid yet. */
export function startPurchase(call: () => CallRequest | undefined): (quote: Quote | undefined) => void {
  const element = document.querySelector('#purchase');
  if (!element) return () => undefined;
  const isSandbox = document.body.dataset.mode === 'sandbox';
  const drawn = import('./draw.ts');
  let latest: Quote | undefined;
  const show = () => void drawn.then(({ draw }) => draw(element, { call, quote: latest, isSandbox }));
  // It needs no price.
  if (keptPayment()) show();
  return (quote) => {
    latest = quote;
    show();
  };
}

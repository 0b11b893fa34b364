/** Puts paying onto the page of an endpoint that is paid for in a browser. */
import type { CallRequest, Quote } from './types.ts';

/** `call`: what the form says now. Answers how to say what that costs; undefined: nothing that can be paid yet. */
export function startPurchase(call: () => CallRequest | undefined): (quote: Quote | undefined) => void {
  const element = document.querySelector('#purchase');
  if (!element) return () => undefined;
  const isSandbox = document.body.dataset.mode === 'sandbox';
  const parts = Promise.all([import('preact'), import('./purchase.tsx')]);
  let latest: Quote | undefined;
  return (quote) => {
    latest = quote;
    void parts.then(([{ h, render }, { Purchase }]) => {
      render(h(Purchase, { call, quote: latest, isSandbox }), element);
    });
  };
}

import { h, render } from 'preact';
import { Purchase, type PurchaseProps } from './purchase.tsx';

export const draw = (element: Element, props: PurchaseProps): void => render(h(Purchase, props), element);

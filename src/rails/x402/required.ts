/** The 402 of a path of the gateway's own, at which nothing is sold: the header for clients, and the same to read. */
import type { HttpAnswer } from '../../payment/rail.ts';
import { encodeHeader } from './wire.ts';

export const requiredAnswer = (title: string, detail: string, required: object): HttpAnswer => ({
  status: 402,
  headers: {
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
    'payment-required': encodeHeader(required),
  },
  body: JSON.stringify({ type: 'about:blank', title, status: 402, detail, ...required }),
});

import type { X402Rail } from '../../payment/rails/x402.ts';
import type { RailDefinition } from '../definition.ts';
import { x402Declaration } from './declaration.ts';
import { x402Documents } from './documents/index.ts';

export const x402: RailDefinition<X402Rail> = {
  ...x402Declaration,
  documents: x402Documents,
  browserHeaders: {
    request: ['PAYMENT-SIGNATURE', 'X-PAYMENT'],
    response: ['PAYMENT-REQUIRED', 'PAYMENT-RESPONSE', 'X-PAYMENT-RESPONSE'],
  },
};

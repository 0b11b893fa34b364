import type { RailDefinition } from '../definition.ts';
import { x402Declaration } from './declaration.ts';
import { x402Documents } from './documents/index.ts';
import { openX402Rail, type X402Rail } from './rail.ts';

export const x402: RailDefinition<undefined, X402Rail> = {
  ...x402Declaration,
  /** Networks, addresses and facilitators are the gateway's; it needs nothing else. */
  readConfig: () => undefined,
  open: ({ networks, exposure, publicUrl, now }) => openX402Rail({ networks, exposure, publicUrl, now }),
  documents: x402Documents,
  browserHeaders: {
    request: ['PAYMENT-SIGNATURE', 'X-PAYMENT'],
    response: ['PAYMENT-REQUIRED', 'PAYMENT-RESPONSE', 'X-PAYMENT-RESPONSE'],
  },
};

import type { RailDefinition } from '../definition.ts';
import { x402Declaration } from './declaration.ts';
import { x402Documents } from './documents/index.ts';
import { openX402Rail, type X402Rail } from './rail.ts';
import { type RefundSigners, readRefundSigners } from './refunds.ts';
import { openReceiptSigner } from './signed-receipts.ts';

export const x402: RailDefinition<RefundSigners | undefined, X402Rail> = {
  ...x402Declaration,
  /** Networks, addresses and facilitators are the gateway's; its own are the keys that give money back. */
  readConfig: readRefundSigners,
  accounts: () => [],
  open: ({ config, receiptSeed, ...parts }) =>
    openX402Rail({
      ...parts,
      refundSigners: config,
      receiptSigner: receiptSeed === undefined ? undefined : openReceiptSigner(receiptSeed, parts.publicUrl),
    }),
  documents: x402Documents,
  browserHeaders: {
    request: ['PAYMENT-SIGNATURE', 'X-PAYMENT'],
    response: ['PAYMENT-REQUIRED', 'PAYMENT-RESPONSE', 'X-PAYMENT-RESPONSE'],
  },
};

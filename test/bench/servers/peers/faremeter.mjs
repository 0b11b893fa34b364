// Its middleware for Express settles before the work, without asking the facilitator to verify.
import { createMiddleware } from '@faremeter/middleware/express';
import { accepted, doublesUrl, offer, sell } from './seller.mjs';

const { amount: maxAmountRequired, ...others } = accepted;

sell(
  await createMiddleware({
    facilitatorURL: doublesUrl,
    accepts: [{ ...others, maxAmountRequired, description: offer.description, mimeType: 'application/json' }],
    supportedVersions: { x402v1: false, x402v2: true },
  }),
);

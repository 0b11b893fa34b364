import { HTTPFacilitatorClient } from '@x402/core/server';
import { ExactEvmScheme } from '@x402/evm/exact/server';
import { paymentMiddleware, x402ResourceServer } from '@x402/express';
import { accepted, doublesUrl, offer, path, sell } from './seller.mjs';

const { scheme, network, payTo, amount, asset, maxTimeoutSeconds, extra } = accepted;

const facilitator = new HTTPFacilitatorClient({ url: doublesUrl });
const resources = new x402ResourceServer(facilitator).register(network, new ExactEvmScheme());
const sold = {
  accepts: { scheme, price: { amount, asset, extra }, network, payTo, maxTimeoutSeconds },
  description: offer.description,
  mimeType: 'application/json',
};
sell(paymentMiddleware({ [`POST ${path}`]: sold }, resources));

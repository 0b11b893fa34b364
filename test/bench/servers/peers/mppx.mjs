import { evm, Mppx } from 'mppx/express';
import { accepted, doublesUrl, offer, sell } from './seller.mjs';

const mppx = Mppx.create({
  methods: [
    evm({
      chainId: Number(accepted.network.split(':')[1]),
      currency: accepted.asset,
      authorization: accepted.extra,
      decimals: offer.decimals,
      recipient: accepted.payTo,
      x402: { facilitator: doublesUrl },
    }),
  ],
  realm: 'gateway.example',
  secretKey: '0123456789abcdef0123456789abcdef',
});

sell(mppx.charge({ amount: offer.dollars, description: offer.description }));

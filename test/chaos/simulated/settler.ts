/** A facilitator that looks at no signature, and moves money on the simulated chain. */
import { asJsonObject } from '../../../src/json.ts';
import type { Asked, Settler } from '../chains.ts';
import { x402Name } from '../names.ts';
import type { Chain, Signed } from './chain.ts';
import type { Network } from './network.ts';

const lower = (value: unknown): string => String(value).toLowerCase();

function signedIn({ paymentPayload }: Asked): Signed {
  const { authorization, permit2Authorization: permit } = asJsonObject(paymentPayload.payload);
  const { from, to, value, nonce, validBefore } = asJsonObject(authorization);
  const { permitted, deadline, witness, ...permitOf } = asJsonObject(permit);
  return authorization
    ? {
        kind: 'eip3009',
        payer: lower(from),
        payTo: lower(to),
        nonce: lower(nonce),
        most: BigInt(String(value)),
        validBefore: Number(validBefore),
      }
    : {
        kind: 'permit2',
        payer: lower(permitOf.from),
        payTo: lower(asJsonObject(witness).to),
        nonce: String(permitOf.nonce),
        most: BigInt(String(asJsonObject(permitted).amount)),
        validBefore: Number(deadline),
      };
}

/** For upto, what is verified is the bound. */
const amountIn = ({ paymentRequirements: { amount, maxAmountRequired } }: Asked): bigint =>
  BigInt(String(amount ?? maxAmountRequired));

export const openSettler = (chain: Chain, { caip2, v1 }: Network): Settler => ({
  async kinds() {
    const upto = { facilitatorAddress: `0x${'fa'.repeat(20)}` };
    return [
      { x402Version: 2, scheme: 'exact', network: caip2 },
      { x402Version: 2, scheme: 'upto', network: caip2, extra: upto },
      { x402Version: 1, scheme: 'exact', network: v1 },
    ];
  },
  nameOf: ({ paymentPayload: { payload } }) => x402Name(caip2, chain.asset, payload),
  async verify(asked) {
    const signed = signedIn(asked);
    const reason = chain.refusal(signed, amountIn(asked));
    return reason ? { isValid: false, invalidReason: reason } : { isValid: true, payer: signed.payer };
  },
  async settle(asked) {
    const signed = signedIn(asked);
    const { network } = asked.paymentRequirements;
    const errorReason = chain.refusal(signed, amountIn(asked));
    if (errorReason !== undefined) return { success: false, errorReason, transaction: '', network };
    const { transaction } = chain.transfer(signed, amountIn(asked));
    return { success: true, transaction, network, payer: signed.payer };
  },
});

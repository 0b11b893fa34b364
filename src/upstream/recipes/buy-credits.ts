import { BUY_CREDITS } from '../../catalogue/sells-credits.ts';
import { toDecimal, usd } from '../../money.ts';
import { CREDITS_PATH } from '../../paths.ts';
import { defineRecipe } from '../adapter.ts';

interface BuyCreditsRequest {
  /** A decimal string. */
  readonly amount_usd: string;
  readonly api_key?: string;
}

interface BuyCreditsResult {
  /**
   * In clear, and so in the answer that is kept with the payment. The chain shows a settled payment's signature to
   * everybody: only who also knows the challenge it answered gets it again (the endpoint is marked `secret`).
   */
  readonly api_key?: string;
  readonly key: string;
  readonly credited_usd: string;
  readonly balance_usd: string;
}

/**
 * Credits for calls with an API key. Nothing is asked of a provider. The credit counts once the payment has settled, so
 * that a settlement that is refused buys nothing; and once for a payment, however often the call is run.
 */
export const buyCredits = defineRecipe({
  name: BUY_CREDITS,
  options: { type: 'object', properties: {} },
  secret: true,
  ownPath: CREDITS_PATH,
  reads: { amount_usd: 'string', api_key: 'string?' },
  worth: 'amount_usd',
  roles: {},
  async call({ amount_usd, api_key }: BuyCreditsRequest, _bindings, { credits, paymentId }): Promise<BuyCreditsResult> {
    const { apiKey, shown, balance } = await credits.buy({ amount: usd(amount_usd), apiKey: api_key, paymentId });
    return {
      ...(apiKey !== undefined && { api_key: apiKey }),
      key: shown,
      credited_usd: toDecimal(usd(amount_usd)),
      balance_usd: toDecimal(balance),
    };
  },
});

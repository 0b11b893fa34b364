/** The project's own facilitator behind its HTTP interface. */
import type { LocalFacilitator } from '../../../src/payment/facilitators/local.ts';
import type { Settler } from '../chains.ts';
import { x402Name } from '../names.ts';

export interface NamedAsset {
  readonly caip2: string;
  readonly v1Name: string | undefined;
  /** Its address. */
  readonly asset: string;
}

export const openSettler = (facilitator: LocalFacilitator, networks: readonly NamedAsset[]): Settler => ({
  kinds: () => facilitator.supported(),
  nameOf({ paymentPayload: { payload }, paymentRequirements: { network } }) {
    const found = networks.find(({ caip2, v1Name }) => network === caip2 || network === v1Name);
    if (!found) throw new Error(`nobody pays on ${network} here`);
    return x402Name(found.caip2, found.asset, payload);
  },
  async verify({ paymentPayload, paymentRequirements }) {
    const verdict = await facilitator.verify(paymentPayload, paymentRequirements);
    return verdict.valid ? { isValid: true, payer: verdict.payer } : { isValid: false, invalidReason: verdict.reason };
  },
  async settle({ paymentPayload, paymentRequirements }) {
    const { network } = paymentRequirements;
    const settlement = await facilitator.settle(paymentPayload, paymentRequirements);
    if (settlement.state !== 'settled') {
      return { success: false, errorReason: settlement.reason, transaction: '', network };
    }
    const { transaction, payer } = settlement;
    return { success: true, transaction, network, ...(payer !== undefined && { payer }) };
  },
});

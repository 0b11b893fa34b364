/** What a payment's chain says of who pays. */
import type { Authorization } from '../../payment/authorizations/authorization.ts';
import { isPermit2, PERMIT2 } from '../../payment/authorizations/permit2.ts';
import { isSolana } from '../../payment/authorizations/solana.ts';
import { createEvmPayers, type Payer, solanaPayer } from '../../payment/exposure/payer.ts';
import type { PayableNetwork } from '../../payment/networks.ts';
import { approvalFor } from './gas-sponsoring.ts';

/** Where no node can be asked, nobody is known to be good for it. */
export function openHolders(
  now: () => number,
): (authorization: Authorization, network: PayableNetwork) => Promise<Payer> {
  const evmPayers = new Map<string, ReturnType<typeof createEvmPayers>>();

  return async (authorization, network) => {
    const { rpcUrl, asset } = network;
    if (!rpcUrl) return { isContract: false, balance: async () => 0n };
    if (isSolana(authorization)) return solanaPayer(rpcUrl, authorization.source);
    const key = `${rpcUrl} ${asset.address}`;
    const payers = evmPayers.get(key) ?? createEvmPayers(rpcUrl, asset.address, now);
    evmPayers.set(key, payers);
    const { payer, isCounterfactual } = authorization;
    if (!isPermit2(authorization)) return payers(payer, { isCounterfactual });
    // The permit takes the place of what was approved before.
    const approved = approvalFor(authorization, network) && authorization.amount;
    return payers(payer, { spender: { address: PERMIT2, approved }, isCounterfactual });
  };
}

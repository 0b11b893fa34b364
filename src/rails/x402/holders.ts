/** What a payment's chain says of who pays. */
import type { Authorization } from '../../payment/authorizations/authorization.ts';
import { isPermit2, PERMIT2 } from '../../payment/authorizations/permit2.ts';
import { isSolana } from '../../payment/authorizations/solana.ts';
import { createEvmHolders, type Holder, solanaHolder } from '../../payment/exposure/holder.ts';
import type { PayableNetwork } from '../../payment/networks.ts';
import { approvalFor } from './gas-sponsoring.ts';

/** Where no node can be asked, nobody is known to be good for it. */
export function openHolders(
  now: () => number,
): (authorization: Authorization, network: PayableNetwork) => Promise<Holder> {
  const known = new Map<string, ReturnType<typeof createEvmHolders>>();

  return async (authorization, network) => {
    const { rpcUrl, asset } = network;
    if (!rpcUrl) return { isContract: false, balance: async () => 0n };
    if (isSolana(authorization)) return solanaHolder(rpcUrl, authorization.source);
    const key = `${rpcUrl} ${asset.address}`;
    const holders = known.get(key) ?? createEvmHolders(rpcUrl, asset.address, now);
    known.set(key, holders);
    const { payer, isCounterfactual } = authorization;
    if (!isPermit2(authorization)) return holders(payer, { isCounterfactual });
    // The permit takes the place of what was approved before.
    const approved = approvalFor(authorization, network) && authorization.amount;
    return holders(payer, { spender: { address: PERMIT2, approved }, isCounterfactual });
  };
}

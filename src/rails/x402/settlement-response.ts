/** What payers are told of a settlement. Source: x402 specifications, core versions 2 and 1, "Settlement Response". */
import { checksumAddress, isEvmAddress } from '../../on-chain/address.ts';
import type { FailedSettlement } from '../../payment/refusal.ts';
import type { Receipt } from '../../store/store.ts';
import { channelResponse } from './channel.ts';
import type { RecoveryQuery } from './recovery.ts';

/** As wallets show it. */
export const shownPayer = (payer = ''): string => (isEvmAddress(payer) ? checksumAddress(payer) : payer);

/** What facilitators answer where they have no code of their own; `errorMessage` says it in words. */
const NOT_SETTLED = 'unexpected_settle_error';

export function settlementResponse(receipt: Receipt) {
  const { transaction, amount, channel } = receipt;
  const { network, payer, signed } = receipt.details;
  const extensions = signed && { 'offer-receipt': { info: { receipt: { format: 'jws', signature: signed } } } };
  return {
    success: true,
    transaction,
    network,
    payer: shownPayer(payer),
    amount,
    ...(channel && channelResponse(receipt, channel)),
    ...(extensions && { extensions }),
  };
}

export function failedSettlement({ recoveryQuery, reason }: FailedSettlement) {
  const { networkName, payer }: RecoveryQuery = JSON.parse(recoveryQuery);
  return {
    success: false,
    errorReason: NOT_SETTLED,
    errorMessage: reason,
    transaction: '',
    network: networkName,
    payer: shownPayer(payer),
  };
}

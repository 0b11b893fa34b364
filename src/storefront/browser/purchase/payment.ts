import type { SignedPayment } from '../wallets/signed-payment.ts';
import type { CallRequest } from './types.ts';

/** What has to be sent to have the result, once or again. */
export interface Payment {
  readonly call: CallRequest;
  readonly signed: SignedPayment;
  /** An attempt ended without the gateway's word that it took no money. */
  readonly isUncertain: boolean;
}

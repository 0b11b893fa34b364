/** Payments whose money is locked before the work, as the published client signs them. */
import './payment/facilitators/own-fetch.ts';
import { openWallet } from '../src/rails/x402/payer.ts';
import type { PaidCall } from './clients.ts';
import type { Gateway } from './gateway.ts';

/** The one network of the sandbox that has the escrow, as in reality. */
export const HELD_ON = 'eip155:84532';

/** A signed hold, not sent yet. */
export async function signHold(payer: Pick<Gateway, 'state'>, call: PaidCall): Promise<Record<string, string>> {
  const client = await openWallet(payer.state, HELD_ON, 'auth-capture');
  const unpaid = await fetch(call.url, call.init);
  const challenge = client.getPaymentRequiredResponse((name) => unpaid.headers.get(name), await unpaid.json());
  return client.encodePaymentSignatureHeader(await client.createPaymentPayload(challenge));
}

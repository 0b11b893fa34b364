/** What the lifecycle notes of a request, for its line in the log. */
import type { Route } from '../catalogue/types.ts';
import { atomicToDecimal } from '../money.ts';
import type { Replay } from '../payment/bought.ts';
import type { ClaimedPayment } from '../payment/claim.ts';
import type { GatewayRequest } from '../request/request.ts';
import type { Visit } from '../request/visit.ts';
import type { Receipt } from '../store/store.ts';

interface Noted {
  readonly visit: Visit | undefined;
  readonly parts: { decimalsOf(asset: string): number };
}

/** A tool call is known by its tool. */
export function noteRoute(
  visit: Visit | undefined,
  { id, rail, endpoint }: Route,
  transport: GatewayRequest['transport'],
): void {
  if (visit === undefined) return;
  visit.endpoint = endpoint.id;
  if (transport === 'mcp') return;
  visit.route = id;
  visit.door = rail;
}

/** Whose payment it is; all of it, where it was made before: then that which bought the answer, whatever came with the request. */
export function noteClaimed(noted: Noted, claimed: ClaimedPayment | Replay): void {
  const { visit } = noted;
  if (visit === undefined) return;
  visit.network = claimed.network;
  visit.payer = claimed.payer;
  visit.paymentId = 'claim' in claimed ? claimed.claim.id : claimed.id;
  if ('claim' in claimed) visit.attempt = claimed.claim.attempt;
  else visit.isReplayed = true;
  if ('receipt' in claimed) noteReceipt(noted, claimed.asset, claimed.receipt);
}

/** What moved, in units of the asset. */
export function noteReceipt({ visit, parts }: Noted, asset: string, { amount, transaction }: Receipt): void {
  if (visit === undefined) return;
  visit.amount = atomicToDecimal(BigInt(amount), parts.decimalsOf(asset));
  visit.transaction = transaction;
}

import type { CallToolResult } from '@modelcontextprotocol/client';
import type { Challenge } from '../../client/wallet.ts';
import { asJsonObjects, isJsonObject, textOrNull } from '../../json.ts';
import type { Order } from './gateway.ts';

/** What a payment is in, in the `_meta` of a call. */
export const PAYMENT = 'x402/payment';
const MPP_CREDENTIAL = 'org.paymentauth/credential';

/** Whether the call comes with a payment of its caller's own. */
export const paysItself = ({ meta }: Order): boolean => PAYMENT in meta || MPP_CREDENTIAL in meta;

/** The answer to a call that was not paid, or whose payment was refused. */
export interface PaymentRequired extends Challenge {
  /** The gateway's own words. */
  readonly error: string;
  /** Something is wrong with the call itself: paying it would buy nothing. */
  readonly isInvalid: boolean;
}

/** Several times what a gateway's headers may hold. */
export const LARGEST_CHALLENGE_KIB = 128;

/** A payment gives a part of it back, and is kept with that until it is answered, in memory and on the disk. */
export function isTooLong({ accepts, resource, extensions }: Challenge): boolean {
  try {
    return JSON.stringify([accepts, resource, extensions]).length > LARGEST_CHALLENGE_KIB * 1024;
  } catch {
    // Nested deeper than it can be written.
    return true;
  }
}

export function readPaymentRequired({ isError, structuredContent }: CallToolResult): PaymentRequired | undefined {
  if (isError !== true || !isJsonObject(structuredContent)) return undefined;
  const { x402Version, accepts, resource, extensions, error, invalidParams } = structuredContent;
  if (x402Version !== 2 || !Array.isArray(accepts)) return undefined;
  return {
    accepts: asJsonObjects(accepts),
    resource,
    extensions,
    error: textOrNull(error) ?? 'payment required',
    isInvalid: invalidParams !== undefined,
  };
}

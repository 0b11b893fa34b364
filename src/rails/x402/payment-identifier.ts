/**
 * The extension `payment-identifier`: a name that a client gives to what it means to buy, so that a second payment for
 * it is not taken. Source: x402 specifications, extension `payment-identifier`.
 */
import type { JsonObject } from '../../json.ts';
import { Refusal } from '../../payment/refusal.ts';
import { infoIn } from './extension.ts';

const NAME = 'payment-identifier';
const ID = { minLength: 16, maxLength: 128, pattern: '^[a-zA-Z0-9_-]+$' };

/** As it stands in every challenge. */
export const paymentIdentifierExtension = {
  [NAME]: {
    info: { required: false },
    schema: {
      type: 'object',
      properties: { required: { type: 'boolean' }, id: { type: 'string', ...ID } },
      required: ['required'],
    },
  },
};

/** The id that a payment payload carries, if any. Throws Refusal `malformed-credential` for one of another form. */
export function readPaymentIdentifier(payment: JsonObject): string | undefined {
  const id = infoIn(payment, NAME)?.id;
  if (id === undefined) return undefined;
  const { minLength, maxLength, pattern } = ID;
  if (typeof id === 'string' && id.length >= minLength && id.length <= maxLength && new RegExp(pattern).test(id)) {
    return id;
  }
  throw new Refusal('malformed-credential', `the ${NAME} must be ${minLength} to ${maxLength} of A-Z a-z 0-9 _ -`);
}

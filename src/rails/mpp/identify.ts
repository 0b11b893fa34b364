import { createHash } from 'node:crypto';
import { Problem } from '../../errors.ts';
import { asJsonObject } from '../../json.ts';
import type { Credential } from '../../payment/rail.ts';
import { Refusal } from '../../payment/refusal.ts';
import type { PaymentCredential } from './credential.ts';
import type { ChargeMethod } from './method.ts';

export interface MppCredential extends Credential {
  readonly credential: PaymentCredential;
  readonly method: ChargeMethod;
}

/** What names a payment. Throws Problem `method_unsupported`, and Refusal `invalid-payload`. */
export function identify(methods: readonly ChargeMethod[], credential: PaymentCredential): MppCredential {
  const { challenge, request } = credential;
  const named = methods.filter(({ name }) => name === challenge.method);
  const { chainId } = asJsonObject(request.methodDetails);
  // Of another chain than ours the challenge will be found to be none of ours.
  const method = named.find(({ details }) => details.chainId === chainId) ?? named[0];
  if (!method) {
    const offered = [...new Set(methods.map(({ name }) => name))].join(', ');
    throw new Problem('method_unsupported', `The payment method is not offered here: pay with ${offered}`);
  }
  const { id, shown } = identified(method, credential);
  // The chain shows the identity, and so it does the proof once that is settled. The challenge's id it does not.
  const fingerprint = createHash('sha256').update(`${challenge.id}|${shown.toLowerCase()}`).digest('hex');
  return { id, fingerprint, isPrivate: true, credential, method };
}

/** The payload is the method's own part of a credential. */
function identified(method: ChargeMethod, credential: PaymentCredential): ReturnType<ChargeMethod['identify']> {
  try {
    return method.identify(credential);
  } catch (error) {
    if (!(error instanceof Refusal) || error.kind !== 'malformed-credential') throw error;
    throw new Refusal('invalid-payload', error.message);
  }
}

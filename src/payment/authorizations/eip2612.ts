/** EIP-2612: a payer approves Permit2 by a signature, which is handed to the token together with the payment. */
import type { JsonObject } from '../../json.ts';
import { Refusal } from '../refusal.ts';
import { readAddress, readSignature, readText, readUint } from './fields.ts';

/** What the payment has to be that the approval is for. */
interface Approved {
  readonly payer: string;
  readonly token: string;
  readonly spender: string;
  readonly amount: bigint;
}

export interface Approval {
  /** Milliseconds since the epoch. */
  readonly endsAt: number;
  /** What was signed, made anew from what was read. */
  readonly info: JsonObject;
  /** What can be known without the chain. Throws Refusal `verification-failed`. */
  check(approved: Approved): void;
}

/** `fields` are those of x402's extension `eip2612GasSponsoring`; `at` names them in errors. Throws Refusal `malformed-credential`. */
export function readApproval(fields: JsonObject, at: string): Approval {
  const from = readAddress(fields.from, `${at}.from`);
  const asset = readAddress(fields.asset, `${at}.asset`);
  const spender = readAddress(fields.spender, `${at}.spender`);
  const amount = readUint(fields.amount, `${at}.amount`);
  const nonce = readUint(fields.nonce, `${at}.nonce`);
  const deadline = readUint(fields.deadline, `${at}.deadline`);
  const signature = readSignature(fields.signature, `${at}.signature`);
  // The token takes it in three parts: nothing but the signature of a key has those.
  readText(signature, `${at}.signature`, /^.{132}$/, '65 bytes of hex');
  const version = readText(fields.version, `${at}.version`, /^1$/, '"1"');
  return {
    endsAt: Number(deadline) * 1000,
    info: {
      from,
      asset,
      spender,
      amount: amount.toString(),
      nonce: nonce.toString(),
      deadline: deadline.toString(),
      signature,
      version,
    },
    check(approved) {
      const differences = [
        [from, approved.payer, 'is of', 'the payer is'],
        [asset, approved.token, 'is for the token', 'the payment is in'],
        [spender, approved.spender.toLowerCase(), 'approves', 'to approve is Permit2,'],
        [amount, approved.amount, 'approves the amount', 'the payment is for'],
      ] as const;
      for (const [signed, asked, verb, instead] of differences) {
        if (signed === asked) continue;
        throw new Refusal('verification-failed', `the permit (EIP-2612) ${verb} ${signed}, ${instead} ${asked}`);
      }
    },
  };
}

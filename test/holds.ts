/** Payments whose money is locked before the work, as the published client signs them. */
import { type Gateway, type PaidCall, signProof } from './clients.ts';

/** The one network of the sandbox that has the escrow, as in reality. */
export const HELD_ON = 'eip155:84532';

/** A signed hold, not sent yet. */
export const signHold = (payer: Gateway, call: PaidCall): Promise<Record<string, string>> =>
  signProof(payer, 'chain-c', call, 'auth-capture');

/**
 * How far a Solana node has come. Source: Solana's sysvar Clock, whose account ends with the time of the bank, in seconds since the
 * epoch, as a signed number of 64 bits.
 */
import { isJsonObject } from '../../json.ts';
import type { Rpc } from './rpc.ts';

/** Address of the account. */
export const CLOCK = 'SysvarC1ock11111111111111111111111111111111';
const TIME_AT = 32;
const CLOCK_BYTES = 40;

export interface SolanaMoment {
  readonly slot: number;
  /** Milliseconds since the epoch, by the chain's clock. */
  readonly time: number;
}

/** The newest that the node has as final. Throws where it does not tell. */
export async function finalizedMoment(rpc: Rpc): Promise<SolanaMoment> {
  const answer = await rpc('getAccountInfo', [CLOCK, { encoding: 'base64', commitment: 'finalized' }]);
  const { context, value } = isJsonObject(answer) ? answer : {};
  const slot = isJsonObject(context) ? context.slot : undefined;
  const [text] = isJsonObject(value) && Array.isArray(value.data) ? value.data : [];
  const data = Buffer.from(typeof text === 'string' ? text : '', 'base64');
  if (typeof slot !== 'number' || data.length < CLOCK_BYTES) throw new Error("the chain's node does not tell the time");
  return { slot, time: Number(data.readBigInt64LE(TIME_AT)) * 1_000 };
}

/** A client of gateways, for Node and browsers. Types of what one sells are written by `turnpike client`. */
export type { Again, Answer, Code, Failure, Paid, Receipt, Success } from './answer.ts';
export type { Asset } from './asset.ts';
export {
  type CallOptions,
  type Client,
  type ClientOptions,
  createClient,
  type Gateway,
  type Pay,
  type Quote,
} from './client.ts';
export type { Deposit } from './deposits.ts';
export type { Events, StreamEvent } from './events.ts';
export type { DepositStore } from './kept-channels.ts';
export type { LimitReached } from './limits.ts';
export { StreamBroken } from './purchase.ts';
export type { GivenBack } from './refund.ts';
export type { EvmSigner, SolanaSigner } from './wallet.ts';

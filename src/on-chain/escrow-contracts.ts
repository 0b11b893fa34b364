/**
 * Contracts of x402's schemes that lock money, at the addresses that @x402/evm signs for on every chain. Sources:
 * base/commerce-payments 1.1 for `auth-capture`; @x402/evm 2.27.0 for `batch-settlement`.
 */
/** Holds what `auth-capture` locks. */
export const ESCROW = '0xf96815976523E00e65Be8f34cA5e64b4f41EB19c';
/** Takes EIP-3009 authorizations for it. */
export const EIP3009_COLLECTOR = '0x8612dfdc421f80336cd14E8EF9cb1E765dB5ab88';
/** Keeps the deposits of `batch-settlement`. */
export const BATCH_SETTLEMENT = '0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003';
/** Takes EIP-3009 authorizations for those. */
export const EIP3009_DEPOSITS = '0x4020806089470a89826cB9fB1f4059150b550004';

/**
 * Contracts of x402's scheme `auth-capture`, version 1.1, at the addresses that @x402/evm signs for on every chain. Source:
 * base/commerce-payments 1.1.
 */
/** Holds what is locked. */
export const ESCROW = '0xf96815976523E00e65Be8f34cA5e64b4f41EB19c';
/** Takes EIP-3009 authorizations for it. */
export const EIP3009_COLLECTOR = '0x8612dfdc421f80336cd14E8EF9cb1E765dB5ab88';

/** Wallets that are contracts (ERC-1271), as the code of an account: what they say of a signature is theirs to choose. */
import { concat, type Hex, pad, toHex } from 'viem';

/** Finds every signature good where gas is free, as in a simulation, and reverts when mined. */
export const TWO_FACED: Hex = '0x3a15600a5760006000fd5b631626ba7e60e01b60005260206000f3';

/** Takes every signature, once it has counted down from `turns`. */
export const counting = (turns: number): Hex =>
  concat([
    '0x62',
    pad(toHex(turns), { size: 3 }), // turns
    '0x5b6001900380600457', // loop: turns -= 1, again until 0
    '0x50631626ba7e60e01b60005260206000f3', // answer with the selector
  ]);

/** Takes every signature, and says so in this many bytes: the selector, and nothing behind it. */
export const answering = (bytes: number): Hex =>
  concat([
    '0x631626ba7e60e01b600052', // the selector, at the beginning of the memory
    '0x63',
    pad(toHex(bytes), { size: 4 }),
    '0x6000f3', // answer with so much of it
  ]);

/** Code of contracts that do one thing, to stand in for wallets and collectors. */
import { type Address, concat, type Hex, numberToHex } from 'viem';

const code = (...parts: readonly string[]): Hex => `0x${parts.join('').replaceAll(' ', '')}`;
const word = (number: number): string => numberToHex(number, { size: 2 }).slice(2);

/** A wallet that takes one digest for signed, with any signature (ERC-1271). */
export const agreeingTo = (digest: Hex): Hex =>
  concat(['0x600435', '0x7f', digest, '0x14', '0x631626ba7e60e01b', '0x02', '0x600052', '0x60206000f3']);

/** Answers every call with a number below 256 and does nothing. */
export const answering = (number: number): Hex => `0x60${number.toString(16).padStart(2, '0')}60005260206000f3`;

/** Sends so much of a token, at every call. */
export const sending = (token: Address, to: Address, units: bigint): Hex =>
  code(
    `63a9059cbb 60e0 1b 6000 52 73${to.slice(2)} 6004 52 7f${numberToHex(units, { size: 32 }).slice(2)} 6024 52`,
    `6000 6000 6044 6000 6000 73${token.slice(2)} 5a f1 00`,
  );

/** Copies bytes of its call's data, whose length is at `at`, and calls `target` with them. */
const passingOn = (target: Address, at: number): string =>
  `61${word(at)} 35 80 61${word(at + 32)} 6000 37 6000 6000 82 6000 6000 73${target.slice(2)} 5a f1`;

/** Calls `target` with bytes that it is called with, and is content whatever comes of it: answers zero. */
export const callingBack = (target: Address, at: number): Hex =>
  code(passingOn(target, at), '6000 6000 52 6020 6000 f3');

/** Calls `target` with bytes that it is called with, and reverts with what that answers. */
export const tellingOf = (target: Address, at: number): Hex =>
  code(passingOn(target, at), '3d 6000 6000 3e 3d 6000 fd');

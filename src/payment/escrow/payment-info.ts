/**
 * A payment as the escrow of x402's scheme `auth-capture` knows it. Sources: x402 specification, "auth-capture" on EVM,
 * version 1.1; base/commerce-payments 1.1, `AuthCaptureEscrow`.
 */
import { ESCROW } from '../../on-chain/escrow-contracts.ts';
import { keccak256 } from '../../on-chain/keccak.ts';
import { numberWord, word } from '../chains/evm-logs.ts';

export const NOBODY = `0x${'0'.repeat(40)}`;

/** Addresses in hex; times in seconds since the epoch. No fee is taken by anybody. */
export interface PaymentInfo {
  /** Who locks, takes and gives back: the gateway's own account. */
  readonly operator: string;
  readonly payer: string;
  readonly receiver: string;
  readonly token: string;
  /** Atomic units, in decimals. */
  readonly maxAmount: string;
  /** Until then it can be locked. */
  readonly preApprovalExpiry: number;
  /** Until then it can be taken; from then on its payer can have it back without the operator. */
  readonly authorizationExpiry: number;
  /** 32 bytes in hex. */
  readonly salt: string;
}

const hash = (bytes: Uint8Array): string => keccak256(bytes).toString('hex');

const TYPE = hash(
  Buffer.from(
    'PaymentInfo(address operator,address payer,address receiver,address token,uint120 maxAmount,uint48 preApprovalExpiry,uint48 authorizationExpiry,uint48 refundExpiry,uint16 minFeeBps,uint16 maxFeeBps,address feeReceiver,uint256 salt)',
  ),
);

/** Members of the contract's struct in their order, each a word: what calls carry of it. */
const paymentInfoWords = (info: PaymentInfo): string =>
  [
    word(info.operator),
    word(info.payer),
    word(info.receiver),
    word(info.token),
    numberWord(info.maxAmount),
    numberWord(info.preApprovalExpiry),
    numberWord(info.authorizationExpiry),
    // What was taken is given back by an ordinary transfer, if at all: see `refunds/`.
    numberWord(info.authorizationExpiry),
    numberWord(0),
    numberWord(0),
    word(NOBODY),
    word(info.salt),
  ].join('');

/** 32 bytes in hex, with `0x`: under this the escrow keeps what became of the payment. */
export function paymentHash(chainId: number, info: PaymentInfo): string {
  const inner = hash(Buffer.from(TYPE + paymentInfoWords(info), 'hex'));
  return `0x${hash(Buffer.from(numberWord(chainId) + word(ESCROW) + inner, 'hex'))}`;
}

/** What the payer signs as the nonce of the authorization: all of the payment but who pays. */
export const authorizationNonce = (chainId: number, info: PaymentInfo): string =>
  paymentHash(chainId, { ...info, payer: NOBODY });

/**
 * A payment channel as the contract of x402's scheme `batch-settlement` knows it. Sources: x402 specification,
 * "batch-settlement" on EVM.
 */
import type { ChannelConfig } from '../../on-chain/channel-config.ts';
import { BATCH_SETTLEMENT } from '../../on-chain/escrow-contracts.ts';
import { keccak256 } from '../../on-chain/keccak.ts';
import { numberWord, word } from '../chains/evm-logs.ts';

/**
 * Seconds between a payer's request for its deposit and the time at which it may have it: long enough to claim before,
 * whatever is down for a night. The contract takes 15 minutes to 30 days.
 */
export const WITHDRAW_DELAY = 86_400;

const hash = (hex: string): string => keccak256(Buffer.from(hex, 'hex')).toString('hex');
const hashText = (text: string): string => hash(Buffer.from(text).toString('hex'));

const CONFIG_TYPE = hashText(
  'ChannelConfig(address payer,address payerAuthorizer,address receiver,address receiverAuthorizer,address token,uint40 withdrawDelay,bytes32 salt)',
);
const VOUCHER_TYPE = hashText('Voucher(bytes32 channelId,uint128 maxClaimableAmount)');
const DOMAIN_TYPE = hashText('EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)');
const [NAME, VERSION] = ['x402 Batch Settlement', '1'].map(hashText);

const domains = new Map<number, string>();

function domainOf(chainId: number): string {
  const known = domains.get(chainId);
  if (known !== undefined) return known;
  const made = hash(DOMAIN_TYPE + NAME + VERSION + numberWord(chainId) + word(BATCH_SETTLEMENT));
  domains.set(chainId, made);
  return made;
}

/** EIP-712. 32 bytes in hex, with `0x`. */
const digest = (chainId: number, struct: string): string => `0x${hash(`1901${domainOf(chainId)}${hash(struct)}`)}`;

/** 32 bytes in hex, with `0x`: the contract's name of the channel on that chain. */
export const channelId = (chainId: number, config: ChannelConfig): string =>
  digest(
    chainId,
    [
      CONFIG_TYPE,
      word(config.payer),
      word(config.payerAuthorizer),
      word(config.receiver),
      word(config.receiverAuthorizer),
      word(config.token),
      numberWord(config.withdrawDelay),
      word(config.salt),
    ].join(''),
  );

/** What is signed for a voucher. 32 bytes in hex, with `0x`. */
export const voucherDigest = (chainId: number, channel: string, max: bigint): string =>
  digest(chainId, VOUCHER_TYPE + word(channel) + numberWord(max));

/** What an EIP-3009 authorization that deposits has as its nonce. 32 bytes in hex, with `0x`. */
export const depositNonce = (channel: string, salt: string): string => `0x${hash(word(channel) + word(salt))}`;

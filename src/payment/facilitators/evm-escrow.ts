/** Drives the escrow of x402's scheme `auth-capture` on one EVM chain, from the account that settles there. */
import { setTimeout as delay } from 'node:timers/promises';
import { type Address, encodeFunctionData, type Hex, parseAbi } from 'viem';
import { EIP3009_COLLECTOR, ESCROW } from '../../on-chain/escrow-contracts.ts';
import { heldForUs, refused, type Settlement, unknown } from '../../on-chain/settlement.ts';
import { findHold } from '../authorizations/auth-capture.ts';
import { EXPIRY_MARGIN_SECONDS } from '../chains/evm-logs.ts';
import type { EscrowOperator } from '../escrow/escrow.ts';
import { NOBODY, type PaymentInfo } from '../escrow/payment-info.ts';
import { type Attempt, newAttempt, reasonOf } from './attempt.ts';
import { collect, rehearse } from './collecting.ts';
import type { EvmDeployments } from './evm-deployment.ts';
import { type EvmDriver, isOpen, run, wentThrough } from './evm-driver.ts';
import { FacilitatorUnreachable } from './facilitator.ts';
import { COSTS_TOO_MUCH, NO_GAS_LEFT } from './settling-cost.ts';

const STRUCT =
  'struct PaymentInfo { address operator; address payer; address receiver; address token; uint120 maxAmount; uint48 preApprovalExpiry; uint48 authorizationExpiry; uint48 refundExpiry; uint16 minFeeBps; uint16 maxFeeBps; address feeReceiver; uint256 salt; }';

const abi = parseAbi([
  STRUCT,
  'function authorize(PaymentInfo info, uint256 amount, address tokenCollector, bytes collectorData)',
  'function capture(PaymentInfo info, uint256 amount, uint256 feeAmount, address feeReceiver)',
  'function void(PaymentInfo info)',
  'error InvalidSender(address sender, address expected)',
  'error ExceedsMaxAmount(uint256 amount, uint256 maxAmount)',
  'error AfterPreApprovalExpiry(uint48 timestamp, uint48 expiry)',
  'error InvalidExpiries(uint48 preApproval, uint48 authorization, uint48 refund)',
  'error TokenCollectionFailed()',
  'error PaymentAlreadyCollected(bytes32 paymentInfoHash)',
]);

export interface EvmEscrowOptions extends EvmDriver {
  readonly rpcUrl: string;
  readonly deployments: Pick<EvmDeployments, 'walletOf' | 'paid'>;
}

const structOf = (info: PaymentInfo) => ({
  operator: info.operator as Address,
  payer: info.payer as Address,
  receiver: info.receiver as Address,
  token: info.token as Address,
  maxAmount: BigInt(info.maxAmount),
  preApprovalExpiry: info.preApprovalExpiry,
  authorizationExpiry: info.authorizationExpiry,
  refundExpiry: info.authorizationExpiry,
  minFeeBps: 0,
  maxFeeBps: 0,
  feeReceiver: NOBODY as Address,
  salt: BigInt(info.salt),
});

/** How often a capture is tried that a node turns down unsent: work may be done before it has the block of the lock. */
const TRIES = 8;
const TRIED_EVERY_MS = 500;
/** Reasons that do not pass by then: its payer would wait in vain, and so would what is reconciled after it. */
const LASTING: ReadonlySet<string | undefined> = new Set([COSTS_TOO_MUCH, NO_GAS_LEFT]);

/** Both have to be on the chain. */
export const escrowContracts = [ESCROW, EIP3009_COLLECTOR] as readonly Address[];

export function openEvmEscrow(options: EvmEscrowOptions): EscrowOperator {
  const { chainId, rpcUrl, reader, deployments } = options;
  const call = (data: Hex) => ({ to: ESCROW as Address, data });

  const locking = (info: PaymentInfo, signature: string) => ({
    abi,
    address: ESCROW as Address,
    functionName: 'authorize',
    args: [structOf(info), BigInt(info.maxAmount), EIP3009_COLLECTOR as Address, signature as Hex],
  });
  const captureCall = (info: PaymentInfo, amount: bigint) =>
    call(encodeFunctionData({ abi, functionName: 'capture', args: [structOf(info), amount, 0n, NOBODY as Address] }));
  const releaseCall = (info: PaymentInfo) =>
    call(encodeFunctionData({ abi, functionName: 'void', args: [structOf(info)] }));

  /** What the chain says now: also of what an earlier attempt did, or another instance. */
  const look = (info: PaymentInfo): Promise<Settlement> => findHold({ rpcUrl, chainId, info, since: sinceOf(info) });

  /** Work that was done is not given up while the chain may still be told: a payer who has the money back shows later. */
  const neverRefused = (found: Settlement): Settlement => (found.state === 'refused' ? unknown(found.reason) : found);
  const worth = (info: PaymentInfo) => BigInt(info.maxAmount);
  const notHeld = (attempt: Attempt): Settlement =>
    isOpen(attempt)
      ? unknown('the chain has not confirmed the lock')
      : refused(reasonOf(attempt) ?? 'the escrow turned the payment down');

  /** What became of a hold that was to be ended. One that nobody ended tells its operator why: gas may be dear. */
  async function ended(info: PaymentInfo, attempt: Attempt): Promise<Settlement> {
    const found = await look(info);
    const why = reasonOf(attempt);
    return found.state === 'unknown' && found.held && why !== undefined ? heldForUs(`${found.reason}: ${why}`) : found;
  }

  const release = async (info: PaymentInfo): Promise<Settlement> =>
    ended(info, await run(options, releaseCall(info), worth(info)));

  /** Whether nothing of it can be taken any more, by the chain's clock. False where that cannot be asked. */
  const isOver = ({ authorizationExpiry }: PaymentInfo): Promise<boolean> =>
    reader.getBlock().then(
      ({ timestamp }) => Number(timestamp) >= authorizationExpiry + EXPIRY_MARGIN_SECONDS,
      () => false,
    );

  /** Takes so many atomic units of a hold. With the last attempt, which alone can have sent anything. */
  async function take(
    info: PaymentInfo,
    amount: bigint,
    tries = TRIES,
  ): Promise<{ attempt: Attempt; taken: Settlement }> {
    const attempt = await run(options, captureCall(info, amount), worth(info));
    if (wentThrough(attempt)) return { attempt, taken: { state: 'settled', transaction: attempt.transaction, amount } };
    const taken = neverRefused(await ended(info, attempt));
    const mayBeThere = taken.state === 'unknown' && (taken.unused || taken.held);
    const wasTurnedDown = !attempt.sent && !attempt.unreachable;
    if (!mayBeThere || !wasTurnedDown || tries === 1 || LASTING.has(attempt.refusal) || (await isOver(info))) {
      return { attempt, taken };
    }
    await delay(TRIED_EVERY_MS);
    return take(info, amount, tries - 1);
  }

  return {
    async verify(info, signature) {
      const attempt = newAttempt();
      const wallet = deployments.walletOf(info.payer, signature);
      const lock = locking(info, wallet?.signature ?? signature);
      if (await rehearse(options, attempt, lock, { price: worth(info), wallet })) {
        return { valid: true, payer: info.payer };
      }
      // Locked by an earlier attempt of ours: nothing is left to be checked.
      const before = await look(info);
      if (before.state === 'unknown' && before.held) return { valid: true, payer: info.payer };
      if (attempt.unreachable) throw new FacilitatorUnreachable('the chain could not be asked about the payment');
      return { valid: false, reason: reasonOf(attempt) ?? 'the escrow would turn the payment down' };
    },

    async lock(info, signature) {
      const wallet = deployments.walletOf(info.payer, signature);
      const price = worth(info);
      const attempt = await collect(options, locking(info, wallet?.signature ?? signature), { price, wallet });
      const found: Settlement = wentThrough(attempt)
        ? { state: 'settled', transaction: attempt.transaction, amount: price }
        : await look(info);
      if (found.state !== 'unknown') return found;
      if (found.held) return { state: 'settled', transaction: '', amount: price };
      return found.unused ? notHeld(attempt) : found;
    },

    async capture(info, amount) {
      const { attempt, taken } = await take(info, amount);
      // What nobody took in time would stay locked until its payer sends a transaction of its own.
      if (taken.state === 'unknown' && taken.held && (await isOver(info))) return release(info);
      if (taken.state === 'settled') deployments.paid(info.payer, taken.amount);
      if (!wentThrough(attempt) || amount === worth(info)) return taken;
      const rest = await run(options, releaseCall(info), worth(info));
      return wentThrough(rest) ? taken : neverRefused(await ended(info, rest));
    },

    release,
  };
}

/** Nothing is locked before what locks it is signed, and clients sign for minutes. */
const LONGEST_SIGNED_SECONDS = 86_400;
const sinceOf = ({ preApprovalExpiry }: PaymentInfo): number => preApprovalExpiry - LONGEST_SIGNED_SECONDS;

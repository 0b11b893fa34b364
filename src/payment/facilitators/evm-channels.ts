/** Drives the channels of x402's scheme `batch-settlement` on one EVM chain, from the account that settles there. */
import { type Address, encodeAbiParameters, encodeFunctionData, type Hex, parseAbi } from 'viem';
import type { ChannelConfig } from '../../on-chain/channel-config.ts';
import { BATCH_SETTLEMENT, EIP3009_DEPOSITS } from '../../on-chain/escrow-contracts.ts';
import { refused, type Settlement, unknown } from '../../on-chain/settlement.ts';
import type { ChannelState } from '../../store/channels/channel-store.ts';
import { signerOf } from '../chains/secp256k1.ts';
import { channelId, depositNonce, voucherDigest } from '../channels/channel.ts';
import type { ChannelClaim, ChannelOperator, Deposit } from '../channels/operator.ts';
import { newAttempt, reasonOf } from './attempt.ts';
import { type Collecting, collect, rehearse } from './collecting.ts';
import type { EvmDeployments } from './evm-deployment.ts';
import { type Call, type EvmDriver, isOpen, run, wentThrough } from './evm-driver.ts';
import { takesTooMuch } from './evm-gas.ts';
import { FacilitatorUnreachable } from './facilitator.ts';
import { COSTS_TOO_MUCH } from './settling-cost.ts';

const abi = parseAbi([
  'struct ChannelConfig { address payer; address payerAuthorizer; address receiver; address receiverAuthorizer; address token; uint40 withdrawDelay; bytes32 salt; }',
  'struct Voucher { ChannelConfig channel; uint128 maxClaimableAmount; }',
  'struct VoucherClaim { Voucher voucher; bytes signature; uint128 totalClaimed; }',
  'function deposit(ChannelConfig config, uint128 amount, address collector, bytes collectorData)',
  'function claim(VoucherClaim[] voucherClaims)',
  'function settle(address receiver, address token)',
  'function refund(ChannelConfig config, uint128 amount)',
  'function multicall(bytes[] data) returns (bytes[])',
  'function channels(bytes32) view returns (uint128 balance, uint128 totalClaimed)',
  'function pendingWithdrawals(bytes32) view returns (uint128 amount, uint40 initiatedAt)',
  'function refundNonce(bytes32) view returns (uint256)',
  'error InvalidChannel()',
  'error WithdrawDelayOutOfRange()',
  'error DepositCollectionFailed()',
  'error DepositOverflow()',
  'error InvalidSignature()',
  'error NotAuthorizedToClaim()',
  'error NotAuthorizedToRefund()',
  'error ClaimExceedsCeiling()',
  'error ClaimExceedsBalance()',
]);

/** EIP-3009. */
const token = parseAbi(['function authorizationState(address authorizer, bytes32 nonce) view returns (bool)']);

/** Both have to be on the chain. */
export const channelContracts = [BATCH_SETTLEMENT, EIP3009_DEPOSITS] as readonly Address[];

const contract = BATCH_SETTLEMENT as Address;
/** Of secp256k1, rounded down: the contract refuses the other half, in which every signature has a twin. */
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

const REFUND_COSTS_TOO_MUCH =
  'its transaction costs more than half of what the channel was charged and has left: ask again when gas is cheaper, or ' +
  'have it from the contract itself, by initiateWithdraw';

const structOf = (config: ChannelConfig) => ({
  payer: config.payer as Address,
  payerAuthorizer: config.payerAuthorizer as Address,
  receiver: config.receiver as Address,
  receiverAuthorizer: config.receiverAuthorizer as Address,
  token: config.token as Address,
  withdrawDelay: config.withdrawDelay,
  salt: config.salt as Hex,
});

const rowOf = ({ config, max, signature, charged }: ChannelClaim) => ({
  voucher: { channel: structOf(config), maxClaimableAmount: max },
  signature: signature as Hex,
  totalClaimed: charged,
});

/** As the contract takes it, and no other: 65 bytes, `s` in the lower half, `v` 27 or 28. */
function isTaken(signature: string): boolean {
  if (!/^0x[0-9a-fA-F]{128}(1b|1c)$/i.test(signature)) return false;
  return BigInt(`0x${signature.slice(66, 130)}`) <= HALF_ORDER;
}

interface Fitting {
  readonly claimed: readonly ChannelClaim[];
  readonly worth: bigint;
  readonly sent: Call;
  readonly unsent: string[];
}

export interface EvmChannelsOptions extends EvmDriver {
  readonly deployments: Pick<EvmDeployments, 'walletOf' | 'paid'>;
}

export function openEvmChannels(driver: EvmChannelsOptions): ChannelOperator {
  const { chainId, reader, operator, noting, weigh, deployments } = driver;
  const call = (data: Hex) => ({ to: contract, data });

  const walletOf = ({ payer }: ChannelConfig, { signature }: Deposit) => deployments.walletOf(payer, signature);
  const depositing = (
    config: ChannelConfig,
    { amount, validAfter, validBefore, salt }: Deposit,
    signature: string,
  ): Collecting => ({
    abi,
    address: contract,
    functionName: 'deposit',
    args: [
      structOf(config),
      amount,
      EIP3009_DEPOSITS as Address,
      encodeAbiParameters(
        [{ type: 'uint256' }, { type: 'uint256' }, { type: 'uint256' }, { type: 'bytes' }],
        [validAfter, validBefore, BigInt(salt), signature as Hex],
      ),
    ],
  });
  const claimCall = (claims: readonly ChannelClaim[]): Hex =>
    encodeFunctionData({ abi, functionName: 'claim', args: [claims.map(rowOf)] });
  const settleCalls = (claims: readonly ChannelClaim[]): { readonly receiver: string; readonly data: Hex }[] => {
    const pairs = new Map(claims.map(({ config }) => [`${config.receiver} ${config.token}`, config]));
    return [...pairs.values()].map(({ receiver, token }) => ({
      receiver,
      data: encodeFunctionData({ abi, functionName: 'settle', args: [receiver as Address, token as Address] }),
    }));
  };
  const together = (calls: readonly Hex[]) =>
    call(encodeFunctionData({ abi, functionName: 'multicall', args: [calls] }));

  const isUsed = (config: ChannelConfig, { salt }: Deposit): Promise<boolean> =>
    reader.readContract({
      abi: token,
      address: config.token as Address,
      functionName: 'authorizationState',
      args: [config.payer as Address, depositNonce(channelId(chainId, config), salt) as Hex],
    });

  async function goesThrough(sent: Call): Promise<boolean> {
    const attempt = newAttempt();
    try {
      await noting(attempt, () => reader.call({ ...sent, account: operator }));
      return true;
    } catch {
      if (attempt.unreachable) throw new FacilitatorUnreachable('the chain could not be asked about the claims');
      return false;
    }
  }

  /** One bad row makes the contract refuse all: halves are tried until it stands alone. */
  async function good(claims: readonly ChannelClaim[]): Promise<ChannelClaim[]> {
    if (claims.length === 0 || (await goesThrough(call(claimCall(claims))))) return [...claims];
    if (claims.length === 1) return [];
    const middle = Math.ceil(claims.length / 2);
    return [...(await good(claims.slice(0, middle))), ...(await good(claims.slice(middle)))];
  }

  /** What claims, and sends each receiver what was claimed for it: one that its token sends nothing keeps no claim waiting. */
  async function claiming(claims: readonly ChannelClaim[]): Promise<{ calls: Hex[]; unsent: string[] }> {
    const claim = claimCall(claims);
    const settling = settleCalls(claims);
    const all = [claim, ...settling.map(({ data }) => data)];
    if (await goesThrough(together(all))) return { calls: all, unsent: [] };
    const [calls, unsent]: [Hex[], string[]] = [[claim], []];
    for (const { receiver, data } of settling) {
      if (await goesThrough(together([claim, data]))) calls.push(data);
      else unsent.push(receiver);
    }
    return { calls, unsent };
  }

  /** As many, from the first on, as one transaction may take the gas of: halves are tried until they fit. */
  async function fitting(claims: readonly ChannelClaim[]): Promise<Fitting> {
    const { calls, unsent } = await claiming(claims);
    const worth = claims.reduce((sum, { due }) => sum + due, 0n);
    const found = { claimed: claims, worth, sent: together(calls), unsent };
    if (claims.length === 1) return found;
    const fits = await weigh(found.sent, worth).then(
      () => true,
      (error: unknown) => !takesTooMuch(error),
    );
    return fits ? found : fitting(claims.slice(0, Math.ceil(claims.length / 2)));
  }

  return {
    authorizer: operator,

    async isSigned(channel, { payerAuthorizer }, { max, signature }) {
      if (!isTaken(signature)) return false;
      return (await signerOf(voucherDigest(chainId, channel, max), signature)) === payerAuthorizer;
    },

    async read(channel) {
      const attempt = newAttempt();
      const args = [channel as Hex] as const;
      const of = { abi, address: contract } as const;
      try {
        return await noting(attempt, async (): Promise<ChannelState> => {
          const blockNumber = await reader.getBlockNumber({ cacheTime: 0 });
          const at = { ...of, args, blockNumber };
          const [[balance, totalClaimed], [, initiatedAt], nonce] = await Promise.all([
            reader.readContract({ ...at, functionName: 'channels' }),
            reader.readContract({ ...at, functionName: 'pendingWithdrawals' }),
            reader.readContract({ ...at, functionName: 'refundNonce' }),
          ]);
          return {
            balance: balance.toString(),
            totalClaimed: totalClaimed.toString(),
            withdrawRequestedAt: initiatedAt,
            refundNonce: nonce.toString(),
          };
        });
      } catch {
        throw new FacilitatorUnreachable('the chain could not be asked about the channel');
      }
    },

    async verifyDeposit(config, deposit) {
      const attempt = newAttempt();
      const wallet = walletOf(config, deposit);
      const collecting = depositing(config, deposit, wallet?.signature ?? deposit.signature);
      if (await rehearse(driver, attempt, collecting, { price: deposit.amount, wallet })) {
        return { valid: true, payer: config.payer };
      }
      if (attempt.unreachable) throw new FacilitatorUnreachable('the chain could not be asked about the deposit');
      return { valid: false, reason: reasonOf(attempt) ?? 'the contract would turn the deposit down' };
    },

    async isDeposited(config, deposit) {
      const attempt = newAttempt();
      try {
        return await noting(attempt, () => isUsed(config, deposit));
      } catch {
        throw new FacilitatorUnreachable('the chain could not be asked about the deposit');
      }
    },

    async deposit(config, deposit) {
      const wallet = walletOf(config, deposit);
      const collecting = depositing(config, deposit, wallet?.signature ?? deposit.signature);
      const attempt = await collect(driver, collecting, { price: deposit.amount, wallet });
      const transaction = wentThrough(attempt) ? attempt.transaction : '';
      if (transaction || (await isUsed(config, deposit).catch(() => false))) {
        return { state: 'settled', transaction, amount: deposit.amount };
      }
      return isOpen(attempt)
        ? unknown('the chain has not confirmed the deposit')
        : refused(reasonOf(attempt) ?? 'the contract turned the deposit down');
    },

    charged: ({ payer }, amount) => deployments.paid(payer, amount),

    async claim(claims) {
      const taken = await good(claims);
      const left = claims.filter((each) => !taken.includes(each));
      if (taken.length === 0) return { claimed: [], refused: left, unsent: [], transaction: undefined };
      const { claimed, worth, sent, unsent } = await fitting(taken);
      const attempt = await run(driver, sent, worth);
      if (!wentThrough(attempt)) {
        throw new FacilitatorUnreachable(attempt.refusal ?? 'the chain has not confirmed the claims');
      }
      return { claimed, refused: left, unsent, transaction: attempt.transaction };
    },

    async refund(claim, amount): Promise<Settlement> {
      const giving = encodeFunctionData({ abi, functionName: 'refund', args: [structOf(claim.config), amount] });
      const before = claim.due > 0n ? await claiming([claim]).catch(() => undefined) : { calls: [] };
      if (!before) return unknown('the chain could not be asked about the claim');
      // What calls have paid is worth their rest, however small. A channel that has brought nothing is worth no gas: anybody can
      // deposit at the contract itself, as little as pleases.
      const attempt = await run(driver, together([...before.calls, giving]), claim.charged + amount);
      if (wentThrough(attempt)) return { state: 'settled', transaction: attempt.transaction, amount };
      if (isOpen(attempt)) return unknown('the chain has not confirmed the refund');
      if (attempt.refusal === COSTS_TOO_MUCH) return refused(REFUND_COSTS_TOO_MUCH);
      return refused(attempt.refusal ?? 'the contract turned the refund down');
    },
  };
}

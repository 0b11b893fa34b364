/** Signs and sends for the EVM schemes of @x402/evm, one network each. Loaded only when this process settles. */

import { InMemoryPendingSettlementStore } from '@x402/core/facilitator';
import type { FacilitatorEvmSigner } from '@x402/evm';
import { PERMIT2_ADDRESS, x402UptoPermit2ProxyAddress } from '@x402/evm';
import { ExactEvmScheme } from '@x402/evm/exact/facilitator';
import { ExactEvmSchemeV1 } from '@x402/evm/exact/v1/facilitator';
import { UptoEvmScheme } from '@x402/evm/upto/facilitator';
import {
  AbiDecodingDataSizeTooSmallError,
  type Address,
  BaseError,
  ContractFunctionRevertedError,
  ContractFunctionZeroDataError,
  concat,
  createPublicClient,
  defineChain,
  domainSeparator,
  ExecutionRevertedError,
  encodeFunctionData,
  type Hex,
  http,
  InsufficientFundsError,
  parseAbi,
  type TransactionReceipt,
  type VerifyTypedDataParameters,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { asJsonObject } from '../../json.ts';
import type { NonceStore } from '../../store/nonce-store.ts';
import { type Attempt, Told } from './attempt.ts';
import { deployingScheme } from './deploying-scheme.ts';
import { channelContracts, openEvmChannels } from './evm-channels.ts';
import { openEvmDeployments } from './evm-deployment.ts';
import type { Call } from './evm-driver.ts';
import { escrowContracts, openEvmEscrow } from './evm-escrow.ts';
import { gasReason, leastSettled, MOST_GAS, priceCall, settlementsFor } from './evm-gas.ts';
import { openEvmSender } from './evm-sender.ts';
import { amountOf } from './json.ts';
import type { EvmNetworkOptions, LocalNetwork, Scheme, SettlingTimes } from './local-network.ts';

import { pendingFor } from './pending.ts';
import { NO_GAS_LEFT } from './settling-cost.ts';

const RPC_TIMEOUT_MS = 10_000;
const FIRST_POLL_MS = 5;
const SLOWEST_POLL_MS = 500;
const RESEND_AFTER_MS = 3_000;
const STALLED_AFTER_MS = 12_000;
/** Permit2's error for a used nonce, which the ABI of x402's proxy does not name. */
const INVALID_NONCE = '0x756688fe';

const eip2612Abi = parseAbi([
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
  'function nonces(address owner) view returns (uint256)',
]);

/** What settles a payment: simulated when it is verified, sent when it is settled. */
const SETTLING = ['transferWithAuthorization', 'settle', 'settleWithPermit'];
const isSettling = (functionName: string): boolean => SETTLING.includes(functionName);

/** Of a contract that answered with nothing, or with less than what it was asked for. */
const NO_ANSWERS = [ContractFunctionZeroDataError, AbiDecodingDataSizeTooSmallError];

/** A contract's own words, short: viem's messages repeat the call with its signature. */
function revertReason(error: unknown): string | undefined {
  if (!(error instanceof BaseError)) return undefined;
  const reverted = error.walk((cause) => cause instanceof ContractFunctionRevertedError);
  if (reverted instanceof ContractFunctionRevertedError) {
    if (reverted.signature === INVALID_NONCE) return 'InvalidNonce';
    return reverted.reason ?? reverted.data?.errorName ?? 'the call reverts';
  }
  if (error.walk((cause) => NO_ANSWERS.some((each) => cause instanceof each))) return 'the contract answers nothing';
  const execution = error.walk((cause) => cause instanceof ExecutionRevertedError);
  return execution instanceof ExecutionRevertedError ? execution.shortMessage : undefined;
}

/** Atomic units that the payer has signed for: what `upto` settles of them says nothing of what the call is worth. */
function priceOf(payload: object, requirements: object): bigint {
  const { permitted } = asJsonObject(asJsonObject(asJsonObject(payload).payload).permit2Authorization);
  return amountOf(asJsonObject(permitted)) ?? amountOf(requirements) ?? 0n;
}

/** Why a node turned a transaction down before it could run. */
const rejection = (error: unknown): string =>
  error instanceof InsufficientFundsError ? NO_GAS_LEFT : 'the node turned the transaction down';

export function createLocalEvmNetwork(
  options: EvmNetworkOptions,
  nonces: () => NonceStore,
  { confirmationTimeoutMs, resendAfterMs = RESEND_AFTER_MS, stalledAfterMs = STALLED_AFTER_MS }: SettlingTimes,
): LocalNetwork {
  const account = privateKeyToAccount(options.privateKey as Hex);
  const nativeCurrency = { name: 'gas', symbol: 'GAS', decimals: 18 };
  const rpcUrls = { default: { http: [options.rpcUrl] } };
  const chain = defineChain({ id: options.chainId, name: options.caip2, nativeCurrency, rpcUrls });
  const reader = createPublicClient({
    chain,
    transport: http(options.rpcUrl, { timeout: RPC_TIMEOUT_MS, retryCount: 1 }),
  });
  const pending = new InMemoryPendingSettlementStore();

  const sender = openEvmSender({
    name: `${options.caip2}:${account.address}`,
    account,
    chainId: options.chainId,
    reader,
    once: createPublicClient({ chain, transport: http(options.rpcUrl, { timeout: RPC_TIMEOUT_MS, retryCount: 0 }) }),
    nonces,
    resendAfterMs,
    stalledAfterMs,
  });

  /** Runs a call to the node and notes whether it answered. Errors thrown on are short and hold no payment. */
  async function noting<T>(attempt: Attempt, call: () => Promise<T>): Promise<T> {
    // The schemes go on asking after a lost answer, which would only take longer.
    if (attempt.unreachable) throw new Error('the node did not answer');
    if (attempt.told) throw new Told(attempt.told);
    try {
      return await call();
    } catch (error) {
      if (error instanceof Told) {
        attempt.told = error.message;
        throw error;
      }
      const reason = gasReason(error) ?? revertReason(error) ?? (attempt.rejected ? rejection(error) : undefined);
      if (reason === undefined) attempt.unreachable = true;
      attempt.refusal ??= reason;
      throw new Error(reason ?? 'the node did not answer');
    }
  }

  async function receiptOf(hash: Hex): Promise<TransactionReceipt | undefined> {
    const found = await Promise.all(
      sender.hashesOf(hash).map((each) => reader.getTransactionReceipt({ hash: each }).catch(() => undefined)),
    );
    return found.find((receipt) => receipt !== undefined);
  }

  async function waitForReceipt(hash: Hex, attempt: Attempt): Promise<TransactionReceipt> {
    const deadline = performance.now() + confirmationTimeoutMs;
    for (let pause = FIRST_POLL_MS; ; pause = Math.min(pause * 2, SLOWEST_POLL_MS)) {
      const receipt = await receiptOf(hash);
      if (receipt) {
        attempt.rejected = receipt.status !== 'success';
        attempt.transaction = receipt.transactionHash;
        return receipt;
      }
      if (performance.now() + pause > deadline) throw new Error('the chain has not confirmed in time');
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  const termsFor = (price: bigint) => ({ sender: account.address, price, nativeValue: options.nativeValue });

  function signerFor(attempt: Attempt, price: bigint): FacilitatorEvmSigner {
    const terms = termsFor(price);
    const send = ({ to, data }: Call): Promise<Hex> =>
      noting(attempt, async () => {
        return sender.send(await priceCall(reader, { to, data }, terms), attempt);
      });
    return {
      getAddresses: () => [account.address],
      // Permit2's proxy takes calls from its facilitator alone, simulated ones too. What is asked may be the payer's own contract:
      // it is run, and heard, for no more than settling may take.
      readContract: (call) =>
        noting(attempt, async () => {
          const from = { account: account.address, authorizationList: undefined, gas: MOST_GAS };
          const answer = await reader.readContract({ ...call, ...from });
          if (isSettling(call.functionName)) {
            await priceCall(reader, { to: call.address, data: encodeFunctionData(call) }, terms);
          }
          return answer;
        }),
      verifyTypedData: (call) => noting(attempt, () => reader.verifyTypedData(call as VerifyTypedDataParameters)),
      // Never rejects: @x402/evm drops the promise of its asset check on the way, and a rejection nobody
      // handles ends the process. `unreachable` is what counts then.
      getCode: (call) => noting(attempt, () => reader.getCode(call)).catch(() => undefined),
      sendTransaction: send,
      writeContract: ({ address, dataSuffix, gas: _, ...call }) => {
        const data = encodeFunctionData(call);
        return send({ to: address, data: dataSuffix ? concat([data, dataSuffix]) : data });
      },
      waitForTransactionReceipt: ({ hash }) => waitForReceipt(hash, attempt),
    };
  }

  const driven = {
    chainId: options.chainId,
    reader,
    operator: account.address,
    noting,
    weigh: (call: Call, price: bigint) => priceCall(reader, call, termsFor(price)),
    send: async (call: Call, attempt: Attempt, price: bigint) =>
      sender.send(await priceCall(reader, call, termsFor(price)), attempt),
    waitForReceipt,
  };
  const deployments = openEvmDeployments({
    ...driven,
    factories: options.walletFactories ?? [],
    sender,
    confirmationTimeoutMs,
    terms: termsFor,
  });
  const escrow = openEvmEscrow({ ...driven, deployments, rpcUrl: options.rpcUrl });
  const channels = openEvmChannels({ ...driven, deployments });

  async function haveCode(addresses: readonly Address[]): Promise<boolean> {
    const codes = await Promise.all(addresses.map((address) => reader.getCode({ address })));
    return codes.every((code) => code !== undefined && code !== '0x');
  }

  /** Whether the token is approved by permits (EIP-2612), and those of the domain that clients are told. */
  async function takesApprovals(): Promise<boolean> {
    const { asset, chainId } = options;
    if (!asset?.name || !asset.version) return false;
    const { name, version } = asset;
    const verifyingContract = asset.address as Address;
    const token = { address: verifyingContract, abi: eip2612Abi };
    try {
      const [separator] = await Promise.all([
        reader.readContract({ ...token, functionName: 'DOMAIN_SEPARATOR' }),
        reader.readContract({ ...token, functionName: 'nonces', args: [account.address] }),
      ]);
      return separator === domainSeparator({ domain: { name, version, chainId, verifyingContract } });
    } catch (error) {
      if (revertReason(error) === undefined) throw error;
      return false;
    }
  }

  return {
    async kinds() {
      // viem's errors carry the node's address, which may hold an access key.
      const unreachable = () => new Error(`the node of ${options.caip2} does not answer`);
      const chainId = await reader.getChainId().catch(() => undefined);
      if (chainId === undefined) throw unreachable();
      if (chainId !== options.chainId) throw new Error(`the node of ${options.caip2} belongs to chain ${chainId}`);
      const [hasPermit2, hasEscrow, hasChannels, approves, notice] = await Promise.all([
        haveCode([PERMIT2_ADDRESS, x402UptoPermit2ProxyAddress]),
        haveCode(escrowContracts),
        haveCode(channelContracts),
        takesApprovals(),
        deployments.look(),
      ]).catch(() => {
        throw unreachable();
      });
      const upto = { x402Version: 2, scheme: 'upto', network: options.caip2 };
      return [
        { x402Version: 2, scheme: 'exact', network: options.caip2, notice },
        ...(options.v1Name ? [{ x402Version: 1, scheme: 'exact', network: options.v1Name }] : []),
        ...(hasPermit2
          ? [{ ...upto, extra: { facilitatorAddress: account.address }, ...(approves && { takesApprovals: true }) }]
          : []),
        ...(hasEscrow ? [{ ...upto, scheme: 'auth-capture', extra: { captureAuthorizer: account.address } }] : []),
        ...(hasChannels
          ? [{ ...upto, scheme: 'batch-settlement', extra: { receiverAuthorizer: account.address } }]
          : []),
      ];
    },

    async account() {
      const balance = await reader.getBalance({ address: account.address });
      return { address: account.address, balance, decimals: 18, lasts: await settlementsFor(reader, balance) };
    },

    least: () => leastSettled(reader, options.nativeValue),

    problem: () => undefined,

    scheme({ version, name, payload, requirements }, attempt) {
      const price = priceOf(payload, requirements);
      const pendingSettlementStore = pendingFor(payload, asJsonObject(requirements).asset, pending);
      const exact = (signer: FacilitatorEvmSigner): Scheme =>
        version === 1 ? new ExactEvmSchemeV1(signer) : new ExactEvmScheme(signer, { pendingSettlementStore });
      const signer = signerFor(attempt, price);
      if (name === 'exact') {
        return deployingScheme({ deployments, noting, isSettling }, exact, signer, {
          payment: payload,
          attempt,
          price,
        });
      }
      return name === 'upto' && version !== 1 ? new UptoEvmScheme(signer, { pendingSettlementStore }) : undefined;
    },

    escrow,

    channels,

    close: () => sender.close(),
  };
}

/**
 * Wallets that pay before they exist (ERC-6492), deployed by the factories that the operator allows. The payer chooses
 * what its factory is called with and we pay the gas: so the payment is tried with the wallet deployed first
 * (`eth_simulateV1`), and the price has to be worth both transactions.
 */
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Abi,
  type Address,
  ContractFunctionRevertedError,
  ExecutionRevertedError,
  encodeFunctionData,
  type Hex,
  parseAbi,
} from 'viem';
import { openTurnsByName } from '../../turns.ts';
import { type Counterfactual, readCounterfactual } from '../authorizations/counterfactual.ts';
import { type Attempt, newAttempt, Told } from './attempt.ts';
import { type Call, type EvmDriver, isOpen } from './evm-driver.ts';
import { type GasBounds, type GasTerms, gasReason, MOST_GAS, priceCall, type WeighedCall } from './evm-gas.ts';
import type { EvmSender } from './evm-sender.ts';

/** A contract that pays, by what it signed together with what deploys it. */
export interface PayingWallet {
  readonly address: Address;
  /** What it takes for signed itself, in hex. */
  readonly signature: Hex;
  /** True where it has to be deployed first, and may be; the attempt notes that. Throws Told where it may not. */
  isMissing(attempt: Attempt): Promise<boolean>;
  /**
   * What a call would answer with the wallet deployed, and the deployment, priced together with it. Throws Told, the
   * contract's own refusal of the call, or what kept the node from answering.
   */
  rehearse(call: NamedCall, price: bigint): Promise<Rehearsed>;
  /**
   * Deploys it where it is missing and the call would go through then. Throws Told where it does not come to be; another error
   * where nobody knows yet, and the same payment goes on from there.
   */
  deployFor(call: NamedCall, attempt: Attempt, price: bigint): Promise<void>;
}

/** `abi` has the errors by which the contract refuses. */
export interface NamedCall extends Call {
  readonly abi?: Abi;
}

export interface Rehearsed {
  /** What the call answers. */
  readonly data: Hex;
  weigh(): Promise<WeighedCall>;
}

interface NamedWallet {
  readonly address: Address;
  readonly factory: Address;
  readonly calldata: Hex;
}

export interface EvmDeployments {
  /** Finds out which of the factories can be used. Answers why not all; rejects where the chain is out of reach. */
  look(): Promise<string | undefined>;
  /** Undefined where the signature says nothing of a deployment. Throws Refusal for one that cannot be read. */
  walletOf(payer: string, signature: string): PayingWallet | undefined;
  /** So many atomic units of this payer's are ours for good: what it can still have back pays for no deployment. */
  paid(payer: string, amount: bigint): void;
}

interface DeploymentOptions extends Pick<EvmDriver, 'reader' | 'operator' | 'noting' | 'waitForReceipt'> {
  readonly factories: readonly string[];
  readonly sender: Pick<EvmSender, 'send'>;
  /** How long a deployment may take until it is in a block. */
  readonly confirmationTimeoutMs: number;
  terms(price: bigint): GasTerms;
}

/** Usual wallets take 100,000 to 350,000. */
const MOST_DEPLOYING_GAS = 500_000n;
/** So many wallets may be deployed within an hour that have not paid, whoever's they are. */
const MOST_UNPAID = 20;
const HOUR_MS = 3_600_000;
/** After so long a transaction that is in no block is given up (see evm-sender.ts). */
const GIVEN_UP_MS = 600_000;
const POLL_MS = 50;
/** Nodes behind one address may be a block apart. */
const APPEARS_MS = 5_000;

/** Of a signature that no wallet made (EIP-1271). */
const ANY_CHECK = encodeFunctionData({
  abi: parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)']),
  args: [`0x${'0'.repeat(64)}`, '0x'],
});

const hasCode = (code: Hex | undefined): boolean => code !== undefined && code !== '0x';

export function openEvmDeployments(options: DeploymentOptions): EvmDeployments {
  const { reader, operator, noting, waitForReceipt, factories, sender, terms } = options;
  let usable: readonly string[] = [];
  /** By wallet: what was sent, until its end is known. Without a hash the node gave no answer. */
  const sent = new Map<string, { readonly at: number; readonly hash?: Hex }>();
  /** By wallet: the last that has to do with its deployment in this process. */
  /** One at a time for each wallet, whatever it pays for: who comes next finds it. */
  const inTurn = openTurnsByName();
  /** Deployments, oldest first, of wallets that have not paid for them, and what they owe in atomic units. */
  let unpaid: readonly { readonly name: string; readonly at: number; readonly owed: bigint }[] = [];
  const nameOf = ({ address }: NamedWallet): string => address.toLowerCase();

  const exists = async ({ address }: NamedWallet): Promise<boolean> => hasCode(await reader.getCode({ address }));

  /** Throws Told. */
  function demandAllowed(wallet: NamedWallet): void {
    const { factory } = wallet;
    if (!usable.includes(factory)) {
      const accepted =
        usable.length === 0 ? 'none is deployed here' : `those of ${usable.join(', ')} are deployed here`;
      throw new Told(`the wallet that pays does not exist on the chain, and is of the factory ${factory}: ${accepted}`);
    }
    unpaid = unpaid.filter(({ at }) => Date.now() - at < HOUR_MS);
    // One that is under way costs nothing more.
    if (unpaid.length < MOST_UNPAID || sent.has(nameOf(wallet))) return;
    throw new Told('too many wallets were deployed here that did not pay: deploy yours first, or come back later');
  }

  const boundsBeside = (settling: bigint): GasBounds => ({
    most: MOST_DEPLOYING_GAS,
    besides: settling,
    tooMuch: `deploying the wallet takes more than ${MOST_DEPLOYING_GAS} gas`,
    tooDear: (least) =>
      `deploying the wallet and settling costs more than half the price: that has to be ${least} atomic units, or deploy the wallet first`,
  });

  async function rehearse(wallet: NamedWallet, { abi, ...call }: NamedCall, price: bigint): Promise<Rehearsed> {
    const deployment = { to: wallet.factory, data: wallet.calldata };
    const { timestamp } = await reader.getBlock();
    const clock = BigInt(Math.floor(Date.now() / 1000));
    const time = timestamp < clock ? clock : timestamp + 1n;
    const [first, second] = await reader.simulateBlocks({
      blocks: [
        {
          blockOverrides: { time },
          calls: [
            { ...deployment, account: operator, gas: MOST_DEPLOYING_GAS },
            { to: wallet.address, data: ANY_CHECK, account: operator, gas: MOST_GAS },
          ],
        },
        { blockOverrides: { time: time + 1n }, calls: [{ ...call, account: operator, gas: MOST_GAS }] },
      ],
    });
    const [deployed, checked, called] = [first?.calls[0], first?.calls[1], second?.calls[0]];
    if (!deployed || !checked || !called) throw new Error('the node does not simulate all calls');
    if (deployed.status === 'failure')
      throw new Told(`the factory does not deploy the wallet that pays within ${MOST_DEPLOYING_GAS} gas`);
    // Only an address without code answers with nothing. A key's own signature is good without any wallet, and would have us
    // call the factory for nothing.
    if (checked.status === 'success' && checked.data === '0x') {
      throw new Told('what the factory deploys is not the wallet that pays');
    }
    if (called.status === 'failure') {
      if (abi && called.data !== '0x') {
        throw new ContractFunctionRevertedError({ abi, data: called.data, functionName: '' });
      }
      throw called.error ?? new ExecutionRevertedError({});
    }
    const settling = (called.gasUsed * 11n) / 10n;
    const weigh = async (): Promise<WeighedCall> => {
      try {
        return await priceCall(reader, deployment, terms(price), boundsBeside(settling));
      } catch (error) {
        const reason = gasReason(error);
        throw reason === undefined ? error : new Told(reason);
      }
    };
    return { data: called.data, weigh };
  }

  async function appears(wallet: NamedWallet, withinMs: number): Promise<boolean> {
    for (const until = performance.now() + withinMs; ; await delay(POLL_MS)) {
      if (await exists(wallet).catch(() => false)) return true;
      if (performance.now() >= until) return false;
    }
  }

  /**
   * Sends it, unless an earlier one may get into a block yet, and waits for the wallet. Throws Told where it does not come to
   * be; another error where nobody knows yet, and the same payment goes on from there.
   */
  async function deploy(wallet: NamedWallet, call: WeighedCall): Promise<void> {
    const name = nameOf(wallet);
    const attempt = newAttempt();
    const earlier = sent.get(name);
    let hash = earlier?.hash;
    if (!earlier || Date.now() - earlier.at > GIVEN_UP_MS) {
      const at = Date.now();
      // Many may have been tried at once.
      sent.delete(name);
      demandAllowed(wallet);
      sent.set(name, { at });
      unpaid = [...unpaid, { name, at, owed: call.least || 1n }];
      hash = await noting(attempt, () => sender.send(call, attempt)).catch(() => undefined);
      if (hash) sent.set(name, { at, hash });
      if (!attempt.sent) unpaid = unpaid.filter((each) => each.name !== name || each.at !== at);
    }
    if (hash) await waitForReceipt(hash, attempt).catch(() => undefined);
    // Somebody else may have deployed it first.
    const isDeployed = attempt.transaction !== undefined && !attempt.rejected;
    const isUnnamed = hash === undefined && (earlier !== undefined || attempt.sent);
    const waitMs = isDeployed ? APPEARS_MS : isUnnamed ? options.confirmationTimeoutMs : 0;
    if (await appears(wallet, waitMs)) {
      sent.delete(name);
      return;
    }
    const mayAppear = isOpen(attempt) || (earlier !== undefined && !attempt.rejected);
    if (mayAppear && !isDeployed) {
      throw new Error('the chain has not confirmed the deployment');
    }
    sent.delete(name);
    throw new Told(attempt.refusal ?? 'the factory did not deploy the wallet that pays');
  }

  async function isMissing(wallet: NamedWallet, attempt: Attempt): Promise<boolean> {
    if (await exists(wallet)) return false;
    demandAllowed(wallet);
    attempt.deploys = true;
    return true;
  }

  return {
    async look() {
      if (factories.length === 0) return undefined;
      const codes = await Promise.all(factories.map((address) => reader.getCode({ address: address as Address })));
      const found = factories.filter((_, at) => hasCode(codes[at])).map((factory) => factory.toLowerCase());
      const simulates = await reader
        .simulateBlocks({ blocks: [{ calls: [{ to: operator, account: operator }] }] })
        .then(
          () => true,
          () => false,
        );
      usable = simulates ? found : [];
      if (!simulates) return 'no wallets are deployed: the node does not answer eth_simulateV1';
      const missing = factories.filter((factory) => !found.includes(factory.toLowerCase()));
      return missing.length === 0
        ? undefined
        : `no wallets of ${missing.join(', ')} are deployed: there is no contract`;
    },

    walletOf(payer, given) {
      const found = readCounterfactual(given, 'payload.signature');
      if (!found) return undefined;
      const { factory, calldata, signature } = found as { [Part in keyof Counterfactual]: Hex };
      const address = payer as Address;
      const wallet = { address, factory, calldata };
      const isWithout = (attempt: Attempt) => isMissing(wallet, attempt);
      return {
        address,
        signature,
        isMissing: isWithout,
        rehearse: (call, price) => rehearse(wallet, call, price),
        deployFor: (call, attempt, price) =>
          inTurn(nameOf(wallet), async () => {
            if (!(await isWithout(attempt))) return;
            const { weigh } = await rehearse(wallet, call, price);
            await deploy(wallet, await weigh());
          }),
      };
    },

    paid(payer, amount) {
      unpaid = unpaid
        .map((each) => (each.name === payer.toLowerCase() ? { ...each, owed: each.owed - amount } : each))
        .filter(({ owed }) => owed > 0n);
    },
  };
}

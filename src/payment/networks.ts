import { setTimeout as delay } from 'node:timers/promises';
import type { AssetFile, Network, NetworkId } from '../catalogue/types.ts';
import type { Log } from '../log.ts';
import { divideUp } from '../money.ts';
import type { ChannelOperator } from './channels/operator.ts';
import type { EscrowOperator } from './escrow/escrow.ts';
import { type Facilitator, FacilitatorUnreachable, type Kind } from './facilitators/facilitator.ts';
import { type NetworkConfiguration, openNetworkNodes, rpcUrlOf } from './network-nodes.ts';

const SECOND_LOOK_MS = 2_000;

/** A network on which this gateway can be paid right now. */
export interface PayableNetwork {
  readonly id: NetworkId;
  readonly family: Network['family'];
  readonly caip2: string;
  /** Undefined where version 1 clients cannot name it or the facilitator does not serve them. */
  readonly v1Name: string | undefined;
  readonly asset: AssetFile;
  readonly payTo: string;
  /** Milliseconds; undefined: as long as the challenge asks. */
  readonly authorizationLastsMs: number | undefined;
  readonly rpcUrl: string | undefined;
  readonly facilitator: Facilitator;
  /** What a client needs to sign besides the amount: the EIP-712 domain, or Solana's fee payer. */
  readonly extra: Readonly<Record<string, unknown>>;
  /** Present where the facilitator settles less than the signed amount; `extra` of that scheme. */
  readonly upto: Readonly<Record<string, unknown>> | undefined;
  /** True where who pays by that need not have approved Permit2: a permit (EIP-2612) may come with the payment. */
  readonly takesApprovals: boolean;
  /** Present where money can be locked before the work: `extra` of that scheme but its deadlines, and who does it. */
  readonly hold: { readonly extra: Readonly<Record<string, unknown>>; operator(): Promise<EscrowOperator> } | undefined;
  /** Present where calls can be drawn from a deposit, likewise. */
  readonly channels:
    | { readonly extra: Readonly<Record<string, unknown>>; operator(): Promise<ChannelOperator> }
    | undefined;
}

/** A network as it is configured, payable now or not. */
export type ConfiguredNetwork = Pick<PayableNetwork, 'id' | 'family' | 'caip2' | 'asset' | 'rpcUrl'> & {
  readonly payTo: string | undefined;
};

export interface NamedFacilitator {
  /** For the log: `coinbase`, an address without secrets, `in-process`. */
  readonly name: string;
  readonly facilitator: Facilitator;
}

/** The networks that can be paid now. A facilitator that is down takes its networks out of the offers until it is back. */
export interface PayableNetworks {
  find(id: NetworkId): PayableNetwork | undefined;
  all(): readonly PayableNetwork[];
  /** All that are configured, payable now or not. */
  readonly ids: readonly NetworkId[];
  /** The configured network, payable now or not, that a protocol version knows by this name. */
  named(
    version: 1 | 2,
    name: string,
  ): { readonly id: NetworkId; readonly caip2: string; readonly asset: AssetFile } | undefined;
  /** The configured network, payable now or not, by its neutral id or by CAIP-2. */
  configured(name: string): ConfiguredNetwork | undefined;
  /** Of a configured network's asset, payable now or not. */
  decimals(id: NetworkId): number;
  /** Grows with every change, so that prepared challenges know when they are stale. */
  readonly version: number;
  /** The lowest price, in atomic units of its asset, that is worth settling on a network now. */
  leastPrice(id: NetworkId): bigint;
  /** Asks every facilitator again what it supports. Never throws. */
  refresh(): Promise<void>;
  /** Asks again what settling costs, where this gateway pays for it. Never throws. */
  weigh(): Promise<void>;
}

interface Supported {
  readonly facilitator: Facilitator;
  readonly kinds: readonly Kind[];
}

const kindOf = (kinds: readonly Kind[], version: number, scheme: string, name: string | undefined) =>
  kinds.find((kind) => kind.x402Version === version && kind.scheme === scheme && kind.network === name);

/** The first facilitator that settles on the network serves it. Answers why not, as text: `fault`, or that none does. */
function payable(
  configuration: NetworkConfiguration,
  fault: string | undefined,
  supported: readonly Supported[],
): PayableNetwork | string {
  const { network, mode, payTo } = configuration;
  const binding = network[mode];
  if (payTo === undefined) return 'no pay-to address is configured';
  if (fault !== undefined) return fault;
  const chosen = supported.find(({ kinds }) => kindOf(kinds, 2, 'exact', binding.caip2));
  if (!chosen) return `no facilitator in reach settles on ${binding.caip2}`;
  const { facilitator, kinds } = chosen;
  const domain = { name: binding.asset.name, version: binding.asset.version };
  const upto = kindOf(kinds, 2, 'upto', binding.caip2);
  const evm = network.family === 'evm';
  // Another's facilitator may do these as well, but not for us: their contracts are driven by who takes the money.
  const hold = facilitator.escrow && kindOf(kinds, 2, 'auth-capture', binding.caip2);
  const channels = facilitator.channels && kindOf(kinds, 2, 'batch-settlement', binding.caip2);
  return {
    id: network.id,
    family: network.family,
    caip2: binding.caip2,
    v1Name: kindOf(kinds, 1, 'exact', binding.v1Name) ? binding.v1Name : undefined,
    asset: binding.asset,
    payTo,
    authorizationLastsMs: network.authorizationLastsMs,
    rpcUrl: rpcUrlOf(configuration),
    facilitator,
    extra: evm ? domain : { ...kindOf(kinds, 2, 'exact', binding.caip2)?.extra },
    upto: upto && evm ? { ...domain, ...upto.extra } : undefined,
    takesApprovals: upto?.takesApprovals === true,
    hold:
      hold && evm
        ? { extra: { ...domain, ...hold.extra }, operator: () => driver(facilitator.escrow, binding.caip2) }
        : undefined,
    channels:
      channels && evm
        ? { extra: { ...domain, ...channels.extra }, operator: () => driver(facilitator.channels, binding.caip2) }
        : undefined,
  };
}

/** Who drives the contracts of a chain. Throws FacilitatorUnreachable. */
async function driver<Driver>(
  find: ((caip2: string) => Promise<Driver | undefined>) | undefined,
  caip2: string,
): Promise<Driver> {
  const found = await find?.(caip2);
  if (found) return found;
  throw new FacilitatorUnreachable(`nobody here drives these contracts of ${caip2}`);
}

/** Rounded up by an eighth at most: what is prepared for a price need not change with every block. */
function inSteps(price: bigint): bigint {
  const step = 1n << BigInt(Math.max(0, price.toString(2).length - 4));
  return divideUp(price, step) * step;
}

/** What `fetch` says of a connection stands in its cause. */
const causesOf = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown';
  return error.cause instanceof Error ? `${error.message}: ${causesOf(error.cause)}` : error.message;
};

const sameOffer = (left: PayableNetwork | undefined, right: PayableNetwork): boolean =>
  left?.facilitator === right.facilitator &&
  JSON.stringify({ ...left, facilitator: undefined }) === JSON.stringify({ ...right, facilitator: undefined });

/** Facilitators come in the order of preference. Nothing is payable until the first `refresh`. */
export function createPayableNetworks(
  configurations: readonly NetworkConfiguration[],
  facilitators: readonly NamedFacilitator[],
  log: Log,
): PayableNetworks {
  const networks = new Map<NetworkId, PayableNetwork>();
  const reasons = new Map<NetworkId, string>();
  const leastPrices = new Map<Facilitator, Map<string, bigint>>();
  const nodes = openNetworkNodes();
  /** Those out of reach, and why. */
  const down = new Map<Facilitator, string>();
  let version = 0;

  const update = (id: NetworkId, result: PayableNetwork | string) => {
    if (typeof result === 'string') {
      if (reasons.get(id) !== result) log.warn({ network: id, reason: result }, 'network is left out of the offers');
      reasons.set(id, result);
      if (networks.delete(id)) version += 1;
      return;
    }
    if (reasons.delete(id)) log.info({ network: id }, 'network is offered again');
    if (sameOffer(networks.get(id), result)) return;
    networks.set(id, result);
    version += 1;
  };

  /** By the network's name at its facilitator. */
  const notices = new Map<string, string>();

  const note = ({ network, notice }: Kind): void => {
    if (notice && notices.get(network) !== notice)
      log.warn({ network, reason: notice }, 'not all of a network can be used');
    if (notice) notices.set(network, notice);
    else notices.delete(network);
  };

  const ask = async ({ name, facilitator }: NamedFacilitator): Promise<Supported> => {
    try {
      const kinds = await facilitator.supported();
      if (down.delete(facilitator)) log.info({ facilitator: name }, 'facilitator is in reach again');
      for (const kind of kinds) if (kind.x402Version === 2 && kind.scheme === 'exact') note(kind);
      return { facilitator, kinds };
    } catch (error) {
      const reason = causesOf(error);
      if (down.get(facilitator) !== reason) log.error({ facilitator: name, reason }, 'facilitator is out of reach');
      down.set(facilitator, reason);
      return { facilitator, kinds: [] };
    }
  };

  /** A chain that does not answer costs what it did when it last did. */
  const weigh = async ({ facilitator }: NamedFacilitator): Promise<void> => {
    const found = await facilitator.leastPrices?.().catch(() => undefined);
    const known = leastPrices.get(facilitator) ?? new Map<string, bigint>();
    leastPrices.set(facilitator, known);
    for (const [caip2, price] of found ?? []) {
      const rounded = inSteps(price);
      if (known.get(caip2) === rounded) continue;
      known.set(caip2, rounded);
      version += 1;
      log.debug({ network: caip2, leastPrice: rounded.toString() }, 'lower prices are not worth settling here');
    }
  };

  return {
    find: (id) => networks.get(id),
    all: () => [...networks.values()],
    ids: configurations.map(({ network }) => network.id),
    leastPrice(id) {
      const network = networks.get(id);
      return (network && leastPrices.get(network.facilitator)?.get(network.caip2)) ?? 0n;
    },
    weigh: async () => {
      await Promise.all(facilitators.map(weigh));
    },
    named: (x402Version, name) => {
      for (const { network, mode } of configurations) {
        const binding = network[mode];
        if ((x402Version === 2 ? binding.caip2 : binding.v1Name) === name)
          return { id: network.id, caip2: binding.caip2, asset: binding.asset };
      }
      return undefined;
    },
    configured(name) {
      const found = configurations.find(({ network, mode }) => network.id === name || network[mode].caip2 === name);
      if (!found) return undefined;
      const { network, mode, payTo } = found;
      const { id, family } = network;
      const { caip2, asset } = network[mode];
      return {
        id,
        family,
        caip2,
        asset,
        payTo,
        rpcUrl: nodes.strangerOf(found) === undefined ? rpcUrlOf(found) : undefined,
      };
    },
    decimals(id) {
      const configured = configurations.find(({ network }) => network.id === id);
      if (!configured)
        throw new Error(`${id} is not a network of networks.yaml any more: put it back to settle its payments`);
      return configured.network[configured.mode].asset.decimals;
    },
    get version() {
      return version;
    },
    refresh: async () => {
      const [first] = await Promise.all([
        Promise.all(facilitators.map(ask)),
        Promise.all(configurations.map(nodes.ask)),
      ]);
      let supported = first;
      const now = (configuration: NetworkConfiguration) =>
        payable(configuration, nodes.faultOf(configuration), supported);
      const lost = configurations.some(
        (configuration) => networks.has(configuration.network.id) && typeof now(configuration) === 'string',
      );
      // One missed answer is no reason to turn payers away.
      if (lost) {
        await delay(SECOND_LOOK_MS);
        supported = await Promise.all(facilitators.map(ask));
      }
      for (const configuration of configurations) update(configuration.network.id, now(configuration));
    },
  };
}

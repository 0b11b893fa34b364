/** The platform of live mode: real facilitators, configured addresses, the providers' own keys. */

import type { Network } from './catalogue/types.ts';
import { ConfigProblem, keysIn } from './environment.ts';
import { COIN_USD, inVariable, type LiveConfig, PAY_TO, payToOf, RPC_URL, rpcUrlOf } from './gateway/config.ts';
import type { Log } from './log.ts';
import { toAtomic, usd } from './money.ts';
import { addressFault, isNobodys, sameAddress } from './on-chain/address.ts';
import { COIN_DOLLARS } from './payment/facilitators/coin-dollars.ts';
import { coinbaseFacilitator, isCoinbaseKey } from './payment/facilitators/coinbase.ts';
import type { LocalFacilitator } from './payment/facilitators/local.ts';
import { remoteFacilitator } from './payment/facilitators/remote.ts';
import type { NamedFacilitator } from './payment/networks.ts';
import type { Platform } from './platform.ts';
import { INTEL_SGX_ROOT_CA } from './upstream/providers/tee/intel-root.ts';

/** Atomic units of the network's asset that one of its coins is worth at most. */
const coinValueOf = ({ coinDollars }: LiveConfig, { id, live: { caip2, asset } }: Network): bigint =>
  toAtomic(usd(coinDollars[id] ?? COIN_DOLLARS[caip2] ?? '0'), asset.decimals);

async function openSigners(live: LiveConfig, networks: readonly Network[]): Promise<LocalFacilitator | undefined> {
  if (!live.signers.evm && !live.signers.solana) return undefined;
  // Loaded only here: it brings whole chain libraries along.
  const { localFacilitator } = await import('./payment/facilitators/local.ts');
  const { evm: privateKey, solana: secretKey } = live.signers;
  const reachable = networks.flatMap((network) => {
    const rpcUrl = rpcUrlOf(live, network);
    const { caip2, v1Name, asset, walletFactories } = network.live;
    const nativeValue = coinValueOf(live, network);
    return rpcUrl === undefined
      ? []
      : [{ family: network.family, caip2, rpcUrl, asset, nativeValue, walletFactories, ...(v1Name && { v1Name }) }];
  });
  return localFacilitator({
    evm: privateKey
      ? reachable
          .filter(({ family }) => family === 'evm')
          .map((network) => ({ ...network, chainId: Number(network.caip2.split(':')[1]), privateKey }))
      : [],
    solana: secretKey
      ? reachable.filter(({ family }) => family === 'solana').map((network) => ({ ...network, secretKey }))
      : [],
  });
}

/** In the order of preference: keys of ours, a facilitator of the operator's choice, Coinbase's. */
async function openFacilitators(
  live: LiveConfig,
  signers: LocalFacilitator | undefined,
  log: Log | undefined,
): Promise<NamedFacilitator[]> {
  const found: NamedFacilitator[] = signers ? [{ name: 'in-process', facilitator: signers }] : [];
  const url = live.facilitatorUrl;
  if (url) found.push({ name: new URL(url).host, facilitator: remoteFacilitator({ url, ...(log && { log }) }) });
  if (live.coinbase) {
    const { id, secret } = live.coinbase;
    if (!(await isCoinbaseKey(id, secret))) {
      throw new ConfigProblem([
        'CDP_API_KEY_SECRET cannot be signed with: give an Ed25519 key in base64, or an EC key as PEM that begins with BEGIN PRIVATE KEY, with line breaks and not \\n (openssl pkcs8 -topk8 -nocrypt makes it of BEGIN EC PRIVATE KEY)',
      ]);
    }
    found.push({ name: 'coinbase', facilitator: await coinbaseFacilitator(id, secret, log) });
  }
  return found;
}

/** Where money would be sent to and nobody has it, by variable: one may be for several networks. */
function lostPayments(live: LiveConfig, networks: readonly Network[]): ReadonlyMap<string, string> {
  const lost = new Map<string, string>();
  for (const network of networks) {
    const address = payToOf(live, network);
    if (address === undefined) continue;
    const { id, family } = network;
    const { asset } = network.live;
    const variable = PAY_TO + inVariable(live.payTo[id] === undefined ? family : id);
    if (sameAddress(address, asset.address))
      lost.set(variable, `the address of the token ${asset.symbol} itself (${id})`);
    else if (isNobodys(address)) lost.set(variable, "nobody's address");
  }
  return lost;
}

/** Variables that name a network: a misspelt name would change nothing, and a wrong address lose what is paid. */
function checkNetworks(live: LiveConfig, networks: readonly Network[]): void {
  const { payTo, rpcUrls, coinDollars } = live;
  const ids = networks.map(({ id }) => id);
  const unknown = (prefix: string, names: string[], known: readonly string[]) =>
    names
      .filter((name) => !known.includes(name))
      .map((name) => {
        const taken = known.map((one) => prefix + inVariable(one)).join(', ');
        return `${prefix}${inVariable(name)} is for no network of networks.yaml: there are ${taken}`;
      });
  const faults = networks.flatMap(({ id, family }) => {
    const fault = payTo[id] === undefined ? undefined : addressFault(family, payTo[id]);
    return fault ? [`${PAY_TO}${inVariable(id)} ${fault}`] : [];
  });
  const problems = [
    ...unknown(PAY_TO, Object.keys(payTo), ['evm', 'solana', ...ids]),
    ...unknown(RPC_URL, Object.keys(rpcUrls), ids),
    ...unknown(COIN_USD, Object.keys(coinDollars), ids),
    ...Object.entries(coinDollars)
      .filter(([, dollars]) => !/^\d{1,9}(\.\d{1,6})?$/.test(dollars))
      .map(([id]) => `${COIN_USD}${inVariable(id)} must be an amount in dollars, such as 250 or 0.35`),
    ...faults,
    ...[...lostPayments(live, networks)].map(
      ([variable, what]) => `${variable} is ${what}, where nobody has what is paid: give that of an account of yours`,
    ),
  ];
  if (problems.length > 0) throw new ConfigProblem(problems);
}

/** Throws ConfigProblem. */
export async function openLive(live: LiveConfig, networks: readonly Network[], log?: Log): Promise<Platform> {
  checkNetworks(live, networks);
  const signers = await openSigners(live, networks);
  const facilitators = await openFacilitators(live, signers, log);
  return {
    mode: 'live',
    payTo: (network) => payToOf(live, network),
    rpcUrl: (network) => rpcUrlOf(live, network),
    facilitators,
    variables: live.variables,
    secretOf: keysIn(live.variables, log),
    trustedOrigins: [],
    attestationRoot: INTEL_SGX_ROOT_CA,
    resolve: undefined,
    routes: undefined,
    headers: {},
    opened: async (_credits, nonces) => signers?.share(nonces),
    stop: async () => {
      await Promise.all(facilitators.map(({ facilitator }) => facilitator.close()));
    },
  };
}

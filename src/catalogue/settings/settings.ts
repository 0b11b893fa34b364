import { asJsonObject, isJsonObject, type JsonObject } from '../../json.ts';
import { addressFault } from '../../on-chain/address.ts';
import { type Checker, closedOptions } from '../checker.ts';
import type { AdapterDeclaration, CatalogueParts } from '../contracts.ts';
import { parseDuration } from '../duration.ts';
import { networksFileSchema } from '../files/networks.ts';
import { modelProperties, upstreamsFileSchema } from '../files/upstreams.ts';
import type { Model, ModelFile, Network, NetworkFile, ServiceFile, Upstream, UpstreamFile } from '../types.ts';
import { choices } from '../yaml/suggest.ts';
import { below, keyOf, type SourceLocation } from '../yaml/yaml-document.ts';
import { checkAlerts } from './alerts.ts';
import { checkBrand } from './brand.ts';
import { checkKeep } from './keep.ts';
import { isLoopback } from './loopback.ts';
import { testNetworks } from './test-networks.ts';

const entries = (value: unknown): [string, JsonObject][] =>
  isJsonObject(value)
    ? Object.entries(value).filter((entry): entry is [string, JsonObject] => isJsonObject(entry[1]))
    : [];

/** `service.yaml`, or undefined when it is not right. */
export function readService(location: SourceLocation, checker: Checker, schema: JsonObject): ServiceFile | undefined {
  const value = location.document.value;
  if (!checker.fits(location, value, schema)) return undefined;
  const service = value as ServiceFile;
  checkAlerts(location, service.alerts, checker);
  checkKeep(location, service.keep, checker);
  checkBrand(location, service.brand, checker);
  return service;
}

/** `networks.yaml`: the networks, those with mistakes included so that their names are known. */
export function readNetworks(location: SourceLocation, checker: Checker): Map<string, Network> {
  checker.fits(location, location.document.value, networksFileSchema);
  const networks = new Map<string, Network>();
  const prefixes = new Map<string, string>();
  for (const [id, entry] of entries(location.document.value)) {
    const file = entry as unknown as NetworkFile;
    const lasts = file.authorizationLasts;
    networks.set(id, {
      ...file,
      id,
      authorizationLastsMs: typeof lasts === 'string' ? parseDuration(lasts) : undefined,
    });
    if (file.family === 'solana' && lasts === undefined) {
      checker.diagnostics.add(
        keyOf(below(location, id)),
        `${id} does not say how long an authorization lasts: a Solana transaction is good for as long as its blockhash`,
        'add authorizationLasts: 60s',
      );
    }
    checkBindings(below(location, id), file, checker);
    if (file.prefix === undefined) continue;
    const other = prefixes.get(file.prefix);
    if (other !== undefined) {
      checker.diagnostics.add(
        below(location, id, 'prefix'),
        `${file.prefix} is the prefix of ${other} too`,
        'choose another',
      );
    }
    prefixes.set(file.prefix, id);
  }
  return networks;
}

function checkBindings(location: SourceLocation, file: NetworkFile, checker: Checker): void {
  for (const mode of ['live', 'sandbox'] as const) {
    const binding = file[mode];
    if (!isJsonObject(binding) || typeof binding.caip2 !== 'string' || !isJsonObject(binding.asset)) continue;
    const wanted = file.family === 'evm' ? 'eip155:' : 'solana:';
    if (!binding.caip2.startsWith(wanted)) {
      checker.diagnostics.add(
        below(location, mode, 'caip2'),
        `${binding.caip2} is not of the family ${file.family}`,
        `write ${wanted}...`,
      );
    }
    const { address } = binding.asset;
    const fault = typeof address === 'string' ? addressFault(file.family, address) : undefined;
    if (fault) checker.diagnostics.add(below(location, mode, 'asset', 'address'), `${address} ${fault}`);
    const factories: unknown = binding.walletFactories ?? [];
    for (const [at, factory] of (Array.isArray(factories) ? factories : []).entries()) {
      const wrong = typeof factory === 'string' ? addressFault('evm', factory) : undefined;
      if (wrong) checker.diagnostics.add(below(location, mode, 'walletFactories', at), `${factory} ${wrong}`);
    }
    if (file.family === 'solana' && binding.walletFactories !== undefined) {
      checker.diagnostics.add(
        keyOf(below(location, mode, 'walletFactories')),
        'wallets are deployed on EVM networks alone',
        'leave walletFactories out',
      );
    }
    if (mode === 'live' && testNetworks.has(binding.caip2)) {
      checker.diagnostics.add(
        below(location, mode, 'caip2'),
        `${binding.caip2} is ${testNetworks.get(binding.caip2)}, where money is worth nothing`,
        'write the id of the network that it is a test of; the sandbox is what test networks are for',
      );
    }
    if (file.family === 'evm' && (binding.asset.name === undefined || binding.asset.version === undefined)) {
      checker.diagnostics.add(
        keyOf(below(location, mode, 'asset')),
        'an EVM asset needs the name and version of its EIP-712 domain',
        'add name and version as the contract has them: authorizations signed for others are refused',
      );
    }
  }
}

/** `upstreams.yaml`: the upstreams, those with mistakes included so that their names are known. */
export function readUpstreams(
  location: SourceLocation,
  checker: Checker,
  parts: CatalogueParts,
): Map<string, Upstream> {
  checker.fits(location, location.document.value, upstreamsFileSchema);
  const adapters = new Map(parts.adapters.map((adapter) => [adapter.name, adapter]));
  const upstreams = new Map<string, Upstream>();
  for (const [name, entry] of entries(location.document.value)) {
    const file = entry as unknown as UpstreamFile;
    upstreams.set(name, { ...file, name });
    const adapter = adapters.get(file.adapter);
    if (adapter) checkUpstream(below(location, name), file, adapter, checker);
    else if (typeof file.adapter === 'string') {
      checker.diagnostics.add(
        below(location, name, 'adapter'),
        `no adapter ${file.adapter}`,
        choices(file.adapter, adapters.keys()),
      );
    }
  }
  return upstreams;
}

function checkUpstream(
  location: SourceLocation,
  file: UpstreamFile,
  adapter: AdapterDeclaration,
  checker: Checker,
): void {
  const { diagnostics } = checker;
  const addressProblem = typeof file.baseUrl === 'string' ? insecureFault(file) : undefined;
  if (addressProblem) diagnostics.add(below(location, 'baseUrl'), addressProblem, 'write an https URL');
  const lost = typeof file.baseUrl === 'string' ? lostOf(file.baseUrl, adapter) : undefined;
  if (lost) {
    diagnostics.add(below(location, 'baseUrl'), `the address holds ${lost}, which is never sent`, 'write it without');
  }
  const [place] = /\{[^{}]*\}/.exec(String(file.baseUrl)) ?? [];
  if (place !== undefined) {
    const hint = 'write the address without it, and settings: { authorize: { path: "/{key}" } }';
    diagnostics.add(below(location, 'baseUrl'), `the address holds ${place}, which is sent as it stands`, hint);
  }
  // What is no map at all is reported by the file's schema.
  const keys = file.keys === undefined || isJsonObject(file.keys) ? (file.keys ?? {}) : undefined;
  const settings = asJsonObject(file.settings);
  const isSettled = checker.fits(
    below(location, 'settings'),
    file.settings ?? {},
    closedOptions(adapter.upstreamOptions ?? {}),
  );
  for (const { path, message, expected } of (isSettled && adapter.checkSettings?.(settings)) || []) {
    diagnostics.add(below(location, 'settings', ...path), message, expected);
  }
  const needed = [...adapter.secrets, ...((isSettled && adapter.secretsIn?.(settings)) || [])];
  for (const secret of keys ? needed : []) {
    if (keys?.[secret] === undefined) {
      diagnostics.add(
        keyOf(location),
        `the adapter ${adapter.name} needs the secret ${secret}`,
        `add keys: { ${secret}: NAME_OF_AN_ENVIRONMENT_VARIABLE }`,
      );
    }
  }
  const secrets = [...needed, ...(adapter.optionalSecrets ?? [])];
  const isUnsent = adapter.secretsIn !== undefined && secrets.length === 0;
  for (const secret of Object.keys(keys ?? {})) {
    // What the settings speak of is not known where they do not fit.
    if (secrets.includes(secret) || (adapter.secretsIn && !isSettled)) continue;
    diagnostics.add(
      keyOf(below(location, 'keys', secret)),
      isUnsent ? `no setting says where ${secret} is sent` : `${adapter.name} has no secret ${secret}`,
      isUnsent ? `add settings: { authorize: { bearer: ${secret} } }, or leave it out` : choices(secret, secrets),
    );
  }
  const modelSchema = closedOptions(adapter.modelOptions ?? {}, modelProperties, ['id']);
  for (const [name, model] of entries(file.models)) {
    const at = below(location, 'models', name);
    if (checker.fits(at, model, modelSchema)) checkOutput(at, model as unknown as ModelFile, checker);
  }
}

/** Keys and what callers send would be read by everybody on the way. */
function insecureFault({ baseUrl, settings }: UpstreamFile): string | undefined {
  if (!URL.canParse(baseUrl)) return `${baseUrl} is not a URL`;
  const isHttps = new URL(baseUrl).protocol === 'https:';
  if (isHttps || isLoopback(baseUrl) || settings?.insecure === true) return undefined;
  return 'http is for an upstream on this machine alone';
}

/** What an address holds besides where calls go: they begin with its path. */
function lostOf(baseUrl: string, { asksAtBaseUrl = false }: AdapterDeclaration): string | undefined {
  if (!URL.canParse(baseUrl)) return undefined;
  const { username, password, search, hash } = new URL(baseUrl);
  if (username !== '' || password !== '') return 'a user name or a password';
  if (search !== '' && !asksAtBaseUrl) return 'a query';
  return hash === '' ? undefined : 'a fragment';
}

/** Whether the sandbox too asks the provider itself: it says so, or stands on this machine. */
export const isAskedInSandbox = ({ sandbox, baseUrl }: UpstreamFile): boolean =>
  sandbox === 'real' || isLoopback(baseUrl);

/** A model writes no more than its context window holds, and by default no more than at most. */
function checkOutput(location: SourceLocation, file: ModelFile, { diagnostics }: Checker): void {
  const { contextWindow, maxOutput, defaultOutput } = file;
  const most = Math.min(maxOutput ?? Number.POSITIVE_INFINITY, contextWindow ?? Number.POSITIVE_INFINITY);
  if (maxOutput !== undefined && maxOutput > most) {
    diagnostics.add(below(location, 'maxOutput'), 'maxOutput is above contextWindow', `write at most ${most}`);
  } else if (defaultOutput !== undefined && defaultOutput > most) {
    const bound = maxOutput === undefined ? 'contextWindow' : 'maxOutput';
    diagnostics.add(below(location, 'defaultOutput'), `defaultOutput is above ${bound}`, `write at most ${most}`);
  }
}

/** Every model by its neutral name. A model with a cost is named once, so that one place sets its price. */
export function pricedModels(
  location: SourceLocation,
  upstreams: ReadonlyMap<string, Upstream>,
  checker: Checker,
): Map<string, Model> {
  const models = new Map<string, Model>();
  const pricedBy = new Map<string, string>();
  for (const upstream of upstreams.values()) {
    for (const [name, entry] of entries(upstream.models)) {
      const file = entry as unknown as ModelFile;
      if (file.cost === undefined) {
        if (!models.has(name)) models.set(name, { ...file, name });
        continue;
      }
      const other = pricedBy.get(name);
      if (other !== undefined) {
        checker.diagnostics.add(
          keyOf(below(location, upstream.name, 'models', name, 'cost')),
          `${name} has a cost under ${other} too`,
          'let one place set the price of a model',
        );
        continue;
      }
      pricedBy.set(name, upstream.name);
      models.set(name, { ...file, name });
    }
  }
  return models;
}

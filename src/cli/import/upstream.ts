/** The entry of `upstreams.yaml` for a document. */
import { isLoopback } from '../../catalogue/settings/loopback.ts';
import type { UpstreamFile } from '../../catalogue/types.ts';
import { asJsonObjects } from '../../json.ts';
import { UsageProblem } from '../command-line.ts';
import { type ApiDocument, addressOf } from './document.ts';
import type { Operation } from './operations.ts';
import type { Scheme } from './security.ts';
import { kebab, REGION } from './text.ts';

/**
 * The document's first server that is an upstream's address, or what `--base-url` says. Throws UsageProblem where there is
 * neither.
 */
export function baseUrlOf({ root, address }: ApiDocument, given: string | undefined): string {
  if (given !== undefined && !URL.canParse(given))
    throw new UsageProblem(`--base-url takes an https URL: got ${given}`);
  const servers = asJsonObjects(root.servers);
  const addresses = (servers.length === 0 ? [undefined] : servers).map((server) => addressOf(server, address));
  const found = addresses.find((one) => one !== undefined && (one.startsWith('https:') || isLoopback(one)));
  const url = given?.replace(/\/+$/, '') ?? found;
  if (url !== undefined) return url;
  throw new UsageProblem(`the document's server is ${servers[0]?.url ?? 'not named'}: add --base-url https://...`);
}

/** Where an operation is that is not at `baseUrl`; undefined where it is. */
export function elsewhere({ servers }: Operation, { address }: ApiDocument, baseUrl: string): string | undefined {
  const addresses = servers.map((server) => addressOf(server, address));
  return addresses.length === 0 || addresses.includes(baseUrl) ? undefined : (addresses[0] ?? 'another server');
}

const COMMON = new Set(['www', 'api', 'apis', 'rest', 'com', 'co', 'org', 'net', 'gov', 'ac', 'amazonaws']);
const WHOLE_REGION = new RegExp(`^${REGION}$`);

/** `https://api.weather.co.uk/v1` is `weather`; where the host has no name of its own, the title is taken. */
export function upstreamNameOf(baseUrl: string, title: unknown): string {
  const { hostname } = new URL(baseUrl);
  const own = /^[\d.]+$|^\[|^localhost$/.test(hostname) ? [] : hostname.split('.').slice(0, -1);
  const name = own.filter((label) => !COMMON.has(label) && !WHOLE_REGION.test(label)).at(-1);
  return kebab(name ?? '') || kebab(typeof title === 'string' ? title : '') || 'imported';
}

export function upstreamFile(name: string, baseUrl: string, scheme: Scheme | undefined): UpstreamFile {
  const prefix = name
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_')
    .replace(/^(?=\d)/, 'API_');
  const variables = Object.entries(scheme?.secrets ?? {}).map(([secret, end]) => [secret, `${prefix}_${end}`]);
  return {
    adapter: 'http',
    baseUrl,
    ...(scheme && { keys: Object.fromEntries(variables), settings: { authorize: scheme.authorize } }),
  };
}

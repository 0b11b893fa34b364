/** URLs that strangers choose, or that must not lead inside: what they say, and where they lead. */
import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { isPublicAddress } from './public-address.ts';

export interface ResolvedAddress {
  address: string;
  family: number;
}

/** How a name is looked up. */
export type Resolve = (hostname: string) => Promise<ResolvedAddress[]>;

/** An address we do not go to. The message is fit for a caller. */
export class AddressRefused extends Error {}

/** Why a URL cannot be used, fit for a caller, or undefined. Looks at the text alone: names are resolved when connecting. */
export function urlRefusal(url: string): string | undefined {
  if (!URL.canParse(url)) return 'is not a URL';
  const { protocol, hostname, username, password } = new URL(url);
  if (protocol !== 'https:') return 'must start with https://';
  if (username !== '' || password !== '') return 'must not carry a user name or password';
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 ? !isPublicAddress(host) : isLocalName(host)) return 'must be on the public internet';
  return undefined;
}

const isLocalName = (host: string): boolean =>
  !host.includes('.') || /\.(localhost|local|internal|home\.arpa|lan)\.?$/.test(host);

const PATIENCE = { timeout: 2_000, tries: 2 };

/**
 * Asks the name servers itself. The system's own way takes one of two threads until a name's servers answer: strangers' names
 * with silent ones would keep the gateway from its facilitators and providers. `servers`: default: the system's.
 */
export const openResolve =
  (servers?: readonly string[]): Resolve =>
  async (hostname) => {
    // A new one each time, for the system's servers may be others by now.
    const resolver = new Resolver(PATIENCE);
    if (servers) resolver.setServers(servers);
    const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    if (four.status === 'rejected' && six.status === 'rejected') throw four.reason;
    const found = (result: PromiseSettledResult<string[]>, family: number) =>
      (result.status === 'fulfilled' ? result.value : []).map((address) => ({ address, family }));
    return [...found(four, 4), ...found(six, 6)];
  };

export const resolveAll: Resolve = openResolve();

/** For connections: every address of the name has to be public, and one that was looked at is the one that is connected to. */
export function guardedLookup(resolve: Resolve): LookupFunction {
  return (hostname, options, done) => {
    resolve(hostname).then(
      (addresses) => {
        const first = addresses[0];
        if (first === undefined || !addresses.every(({ address }) => isPublicAddress(address))) {
          done(new AddressRefused('must be on the public internet'), '', 0);
        } else if (options.all) {
          done(null, addresses);
        } else {
          done(null, first.address, first.family);
        }
      },
      (error: NodeJS.ErrnoException) => done(error, '', 0),
    );
  };
}

/** From whose address a request comes: `TURNPIKE_TRUST_PROXY` says which proxies are believed, as Express does. */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv4 } from 'node:net';
import { callerAt } from '../limits/cut.ts';
import { isPublicAddress } from '../upstream/http/public-address.ts';

/** How many proxies stand in front, or their networks; undefined: nobody has said. */
export type TrustedProxies = number | readonly string[] | undefined;

export type ClientOf = (request: Pick<IncomingMessage, 'socket' | 'headers'>) => string | undefined;

/** Names of networks, those of Express. */
const NAMED: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.1/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

/** Throws Error with the words for what is no network. */
function networksOf(names: readonly string[]): BlockList {
  const list = new BlockList();
  for (const name of names.flatMap((each) => NAMED[each] ?? [each])) {
    const [, address = '', prefix] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(name) ?? [];
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    const bits = prefix === undefined ? (family === 'ipv4' ? 32 : 128) : Number(prefix);
    if (isIP(address) === 0 || bits > (family === 'ipv4' ? 32 : 128)) {
      throw new Error(`${name} is no address or network`);
    }
    list.addSubnet(address, bits, family);
  }
  return list;
}

/** `TURNPIKE_TRUST_PROXY`. Throws Error with what it takes. */
export function readTrustedProxies(text: string | undefined): TrustedProxies {
  if (text === undefined) return undefined;
  if (/^\d{1,2}$/.test(text)) return Number(text);
  const names = text.split(',').map((name) => name.trim());
  networksOf(names);
  return names;
}

/** Without a port and brackets, as some proxies write them. */
const bareAddress = (text: string): string =>
  text
    .trim()
    .replace(/^\[(.*)\](:\d+)?$/, '$1')
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1');

const unmapped = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');

/**
 * Whom a request is counted to; undefined: nobody. Where nobody has said which proxies there are, an address inside is
 * most likely that of one, and stands for everybody.
 */
export function clientAddresses(trusted: TrustedProxies): ClientOf {
  if (trusted === undefined || trusted === 0) {
    const known = new WeakMap<IncomingMessage['socket'], string>();
    return ({ socket }) => {
      const seen = known.get(socket);
      if (seen !== undefined) return seen === '' ? undefined : seen;
      const address = unmapped(socket.remoteAddress ?? '');
      const caller = trusted === 0 || isPublicAddress(address) ? callerAt(address) : undefined;
      known.set(socket, caller ?? '');
      return caller;
    };
  }
  const networks = typeof trusted === 'number' ? undefined : networksOf(trusted);
  const believes = (address: string, hop: number): boolean => {
    if (typeof trusted === 'number') return hop < trusted;
    return isIP(address) !== 0 && networks?.check(address, isIPv4(address) ? 'ipv4' : 'ipv6') === true;
  };
  return ({ socket, headers }) => {
    let address = unmapped(socket.remoteAddress ?? '');
    const forwarded = headers['x-forwarded-for'];
    let rest = Array.isArray(forwarded) ? forwarded.join(',') : (forwarded ?? '');
    for (let hop = 0; rest !== '' && believes(address, hop); hop += 1) {
      const at = rest.lastIndexOf(',');
      const before = unmapped(bareAddress(rest.slice(at + 1)));
      // What is no address was not written by a proxy that is believed.
      if (isIP(before) === 0) break;
      address = before;
      rest = at < 0 ? '' : rest.slice(0, at);
    }
    return callerAt(address);
  };
}

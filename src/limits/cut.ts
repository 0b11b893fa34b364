/** Addresses as callers are counted by, and as they may be written down. */
import { isIPv4, isIPv6 } from 'node:net';

/** The eight groups of an IPv6 address. */
function groupsOf(address: string): string[] {
  const [head = '', tail] = address.split('::');
  const first = head === '' ? [] : head.split(':');
  if (tail === undefined) return first;
  const last = tail === '' ? [] : tail.split(':');
  return [...first, ...Array<string>(Math.max(0, 8 - first.length - last.length)).fill('0'), ...last];
}

const plain = (group: string): string => group.toLowerCase().replace(/^0+(?=.)/, '');

/**
 * Whom an address stands for: an IPv4 address itself, an IPv6 address the network of 64 bits that its owner has all of.
 * Undefined for what is no address.
 */
export function callerAt(address: string): string | undefined {
  const [bare = ''] = address.split('%');
  const mapped = bare.replace(/^::ffff:(?=\d+\.)/i, '');
  if (isIPv4(mapped)) return mapped;
  if (!isIPv6(bare)) return undefined;
  return `${groupsOf(bare).slice(0, 4).map(plain).join(':')}::/64`;
}

/** As much of it as may be written down: `203.0.113.0/24`, `2001:db8:1::/48`. */
export function cut(caller: string): string {
  if (isIPv4(caller)) return `${caller.split('.').slice(0, 3).join('.')}.0/24`;
  return `${caller.split(':').slice(0, 3).join(':')}::/48`;
}

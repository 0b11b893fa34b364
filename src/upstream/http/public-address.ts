import { BlockList, isIP, isIPv4 } from 'node:net';

/** Everything the IANA special-purpose registries keep off the public internet (RFC 6890 and later entries). */
const special4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24', '192.168.0.0/16', '192.175.48.0/24'],
  ...['198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
];

/** Inside 2000::/3, which alone is routed: parts that are reserved or carry an IPv4 address (Teredo, 6to4). */
const special6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'];

function blockList(family: 'ipv4' | 'ipv6', subnets: readonly string[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [network = '', prefix] = subnet.split('/');
    list.addSubnet(network, Number(prefix), family);
  }
  return list;
}

const blocked4 = blockList('ipv4', special4);
const blocked6 = blockList('ipv6', special6);
const routed6 = blockList('ipv6', ['2000::/3']);

/** True for an IP address that belongs to the public internet. IPv4 addresses written as IPv6 are not: they are never needed. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false;
  if (isIPv4(address)) return !blocked4.check(address, 'ipv4');
  return routed6.check(address, 'ipv6') && !blocked6.check(address, 'ipv6');
}

import t from 'tap';
import { isPublicAddress } from '../../../src/upstream/http/public-address.ts';

/**
 * Every entry of the IANA special-purpose address registries (iana-ipv4-special-registry, iana-ipv6-special-registry),
 * also those that are forwarded: nobody serves files there. Beside them multicast and IPv6's former site-local range.
 */
const reserved4 = [
  ...['0.0.0.0/8', '0.0.0.0/32', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.0.0/29', '192.0.0.8/32', '192.0.0.9/32', '192.0.0.10/32', '192.0.0.170/32'],
  ...['192.0.0.171/32', '192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24', '192.88.99.2/32'],
  ...['192.168.0.0/16', '192.175.48.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '240.0.0.0/4'],
  ...['255.255.255.255/32', '224.0.0.0/4'],
];
const reserved6 = [
  ...['::1/128', '::/128', '::ffff:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48', '100::/64', '100:0:0:1::/64'],
  ...['2001::/23', '2001::/32', '2001:1::1/128', '2001:1::2/128', '2001:1::3/128', '2001:2::/48', '2001:3::/32'],
  ...['2001:4:112::/48', '2001:10::/28', '2001:20::/28', '2001:30::/28', '2001:db8::/32', '2002::/16'],
  ...['2620:4f:8000::/48', '3fff::/20', '5f00::/16', 'fc00::/7', 'fe80::/10', 'fec0::/10', 'ff00::/8'],
];

/** A kind of address as whole numbers. */
interface Notation {
  readonly bits: number;
  read(address: string): bigint;
  write(number: bigint): string;
}

const joined = (parts: readonly number[], bits: number) =>
  parts.reduce((sum, part) => (sum << BigInt(bits)) | BigInt(part), 0n);
const parted = (number: bigint, parts: number, bits: number) =>
  Array.from({ length: parts }, (_, index) =>
    Number(BigInt.asUintN(bits, number >> BigInt(bits * (parts - 1 - index)))),
  );

const ipv4: Notation = {
  bits: 32,
  read: (address) => joined(address.split('.').map(Number), 8),
  write: (number) => parted(number, 4, 8).join('.'),
};
const ipv6: Notation = {
  bits: 128,
  read(address) {
    const [before = [], after = []] = address
      .split('::')
      .map((half) => half.split(':').filter((group) => group !== ''));
    const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
    return joined(
      [...before, ...zeros, ...after].map((group) => Number.parseInt(group, 16)),
      16,
    );
  },
  write: (number) =>
    parted(number, 8, 16)
      .map((group) => group.toString(16))
      .join(':'),
};

interface Range {
  readonly first: bigint;
  readonly last: bigint;
}

function rangeOf(subnet: string, { bits, read }: Notation): Range {
  const [network = '', prefix] = subnet.split('/');
  const first = read(network);
  return { first, last: first + (1n << BigInt(bits - Number(prefix))) - 1n };
}

/** IPv6 is routed in 2000::/3 alone. */
const kinds: [notation: Notation, routed: string, reserved: readonly string[]][] = [
  [ipv4, '0.0.0.0/0', reserved4],
  [ipv6, '2000::/3', reserved6],
];

for (const [notation, routed, reserved] of kinds) {
  const ranges = reserved.map((subnet) => rangeOf(subnet, notation));
  const inside = (number: bigint, { first, last }: Range) => first <= number && number <= last;
  for (const subnet of reserved) {
    t.test(`is not public: ${subnet}, from its first address to its last`, async (t) => {
      const { first, last } = rangeOf(subnet, notation);
      for (const number of [first, (first + last) / 2n, last]) {
        t.equal(isPublicAddress(notation.write(number)), false, notation.write(number));
      }
      // What is beside it is public, unless it is reserved or not routed itself.
      for (const number of [first - 1n, last + 1n]) {
        const isPublic = inside(number, rangeOf(routed, notation)) && !ranges.some((range) => inside(number, range));
        if (isPublic) t.ok(isPublicAddress(notation.write(number)), notation.write(number));
      }
    });
  }
}

const kept = {
  'cloud metadata': ['169.254.169.254', 'fd00:ec2::254', '100.100.100.200'],
  'IPv4 in IPv6 clothes': ['::ffff:127.0.0.1', '::ffff:8.8.8.8', '::8.8.8.8', '64:ff9b::7f00:1', '2002:7f00:1::'],
  'what nobody has been given': ['1000::1', '4000::1', '200::1', 'e000::1'],
  'no address': ['localhost', 'example.com', '', '127.1', '0x7f.0.0.1'],
};
for (const [what, addresses] of Object.entries(kept)) {
  t.test(`is not public: ${what}`, async (t) => {
    for (const address of addresses) t.equal(isPublicAddress(address), false, address);
  });
}

t.test('is public: what the internet routes', async (t) => {
  for (const address of ['8.8.8.8', '172.32.0.1', '1.1.1.1', '2606:4700::1111', '2a00:1450::1'])
    t.ok(isPublicAddress(address), address);
});

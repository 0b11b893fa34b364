import t from 'tap';
import { isPublicAddress } from '../../../src/upstream/http/public-address.ts';

const kept = {
  private: ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fd00::1'],
  loopback: ['127.0.0.1', '127.9.9.9', '::1', '0.0.0.0', '::'],
  'link-local': ['169.254.1.1', 'fe80::1', 'fec0::1'],
  'cloud metadata': ['169.254.169.254', 'fd00:ec2::254', '100.100.100.200'],
  'shared, benchmarking and documentation': ['100.64.0.1', '198.18.0.1', '192.0.2.1', '203.0.113.9', '2001:db8::1'],
  'multicast and broadcast': ['224.0.0.1', '255.255.255.255', 'ff02::1'],
  'IPv4 in IPv6 clothes': ['::ffff:127.0.0.1', '::ffff:8.8.8.8', '64:ff9b::7f00:1', '2002:7f00:1::', '2001::1'],
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

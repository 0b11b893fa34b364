import { join } from 'node:path';
import t from 'tap';
import { versionOf } from '../../src/catalogue/version.ts';
import { ReloadRefused } from '../../src/gateway/editions.ts';
import { followOthers } from '../../src/gateway/reloading.ts';

t.test(
  'what another instance sells and this one has to be restarted for is tried once, and told of once',
  async (t) => {
    const catalogue = join(t.testdir({ catalogue: { 'service.yaml': 'name: Shop\n' } }), 'catalogue');
    const told: string[] = [];
    let tries = 0;
    let wanted = versionOf(catalogue);
    const follow = followOthers(
      {
        directory: catalogue,
        log: { warn: (_details: object, message?: string) => void told.push(String(message)) },
        announced: async () => wanted,
        sold: () => 'another',
      },
      async () => {
        tries += 1;
        throw new ReloadRefused('networks.yaml has changed: that takes a restart');
      },
    );
    for (let round = 0; round < 5; round += 1) await follow();
    t.equal(tries, 1);
    t.match(told, [/networks\.yaml has changed: that takes a restart/]);
    wanted = 'a newer one';
    await follow();
    t.match(told, [/restart/, /another catalogue than the files here/]);
  },
);

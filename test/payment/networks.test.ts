import t from 'tap';
import { loadCatalogue } from '../../src/catalogue/load.ts';
import type { Network } from '../../src/catalogue/types.ts';
import { createLog, type Log } from '../../src/log.ts';
import { type Facilitator, FacilitatorUnreachable } from '../../src/payment/facilitators/facilitator.ts';
import { createPayableNetworks } from '../../src/payment/networks.ts';
import { shipped } from '../../src/shipped.ts';

const network = loadCatalogue('catalogue', shipped).networks.get('chain-c') as Network;

/** A facilitator that answers what it supports as often as it is said to, and then cannot be reached. */
function open(answers: boolean[], log: Log = createLog('silent')) {
  const asked = () => answers.shift() ?? false;
  const facilitator: Pick<Facilitator, 'supported'> = {
    supported: async () => {
      if (!asked()) throw new FacilitatorUnreachable('no answer');
      return [{ x402Version: 2, scheme: 'exact', network: network.sandbox.caip2 }];
    },
  };
  return createPayableNetworks(
    [{ network, mode: 'sandbox', payTo: '0x0000000000000000000000000000000000000001', rpcUrl: undefined }],
    [{ name: 'flaky', facilitator: facilitator as Facilitator }],
    log,
  );
}

t.test(
  'a facilitator that misses one question keeps its networks, one that misses two loses them, and gets them back',
  async (t) => {
    const payable = open([true, false, true, false, false, true]);
    t.equal(payable.find('chain-c'), undefined, 'nothing is payable before it was asked');
    const { version } = payable;
    await payable.refresh();
    t.ok(payable.find('chain-c'));
    await payable.refresh();
    t.ok(payable.find('chain-c'), 'it answered the second time');
    t.equal(payable.version, version + 1, 'and challenges that were prepared stay good');
    await payable.refresh();
    t.equal(payable.find('chain-c'), undefined);
    await payable.refresh();
    t.ok(payable.find('chain-c'));
    t.equal(payable.version, version + 3);
  },
);

t.test('the log tells once that a facilitator is out of reach, and once that it is back', async (t) => {
  const told: [string, string][] = [];
  const say = (level: string) => (_details: object, message: string) => {
    if (message.startsWith('facilitator')) told.push([level, message]);
  };
  const log = { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') };
  const payable = open([true, false, false, false, false, true, true], log);
  for (let round = 0; round < 6; round += 1) await payable.refresh();
  t.same(told, [
    ['error', 'facilitator is out of reach'],
    ['info', 'facilitator is in reach again'],
  ]);
});

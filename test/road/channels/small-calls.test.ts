/** Many calls of next to nothing, drawn from a deposit: what no transaction would be worth. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { openChannel, toldOf } from '../../channels.ts';
import { request } from '../../clients.ts';
import { startGateway } from '../../gateway.ts';
import { picturesWith } from '../../settling-first.ts';

const CALLS = Number(process.env.SMALL_CALLS ?? 60);

interface Sold {
  readonly file: string;
  readonly path: string;
  readonly body?: object;
  /** Atomic units. */
  readonly price: bigint;
  readonly dollars: string;
}

/** A cent, a hundredth of a cent, and the least that there is. */
const SOLD: readonly Sold[] = [
  { file: 'stock/arb', path: '/stock/arb?sort=abs', price: 10_000n, dollars: '0.01' },
  {
    file: 'tokens-api/asset-tickers',
    path: '/tokens-api/asset-tickers',
    body: { assetId: 'jupiter' },
    price: 100n,
    dollars: '0.0001',
  },
  {
    file: 'tokens-api/asset-markets',
    path: '/tokens-api/asset-markets',
    body: { assetId: 'jupiter' },
    price: 1n,
    dollars: '0.000001',
  },
];

const catalogue = picturesWith(t, '{ channels: true }', ...SOLD.map(({ file }) => file));
for (const { file, dollars } of SOLD) {
  const path = join(catalogue, `endpoints/${file}.yaml`);
  const text = readFileSync(path, 'utf8').replace(/^networks: .*\n/m, '');
  const sold = `networks: [chain-a, chain-c]\nprice: { rule: fixed, amount: "${dollars}" }`;
  writeFileSync(path, text.replace(/^price: .*$/m, sold));
}
const gateway = await startGateway({
  catalogue,
  networks: ['chain-a', 'chain-c'],
  intervals: { claims: { everyMs: 200, afterMs: 1_000, readEveryMs: 60_000, takenMs: 300_000 } },
});
t.teardown(gateway.stop);

t.test(
  'each is charged to the unit, one deposit is made, and what was charged arrives',
  { timeout: 240_000 + CALLS * 100 },
  async (t) => {
    const payer = openChannel(gateway, { salt: `0x${'5a'.repeat(32)}`, deposit: 100_000_000n });
    const [earned, spendable] = [await gateway.earned('chain-c'), await gateway.spendable('chain-c')];
    let due = 0n;
    for (let number = 1; number <= CALLS; number += 1) {
      const { path, body, price } = SOLD[number % SOLD.length] as Sold;
      const answer = await payer.buy(request(gateway, path, body));
      if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
      await answer.arrayBuffer();
      due += price;
      const { chargedCumulativeAmount } = toldOf(answer).extra.channelState;
      if (chargedCumulativeAmount !== String(due))
        t.equal(chargedCumulativeAmount, String(due), `after call ${number}`);
    }
    t.equal(spendable - (await gateway.spendable('chain-c')), 100_000_000n, 'one deposit');
    while ((await gateway.earned('chain-c')) - earned < due) await delay(100);
    t.equal((await gateway.earned('chain-c')) - earned, due);
    const back = await payer.scheme.refund(`${gateway.url}/v1/channels`);
    t.equal(back.amount, String(100_000_000n - due));
    t.equal(spendable - (await gateway.spendable('chain-c')), due, "what was not used is the payer's again");
  },
);

/** What payers cost us in transactions by their deposits is bounded. */
import t, { type Test } from 'tap';
import { generatePrivateKey } from 'viem/accounts';
import { openChannel } from '../../channels.ts';
import { sendProof } from '../../clients.ts';
import { startGateway } from '../../gateway.ts';
import { fresh, picturesWith } from '../../settling-first.ts';

/** A shop where each payer may waste so many transactions an hour. */
async function shopOf(t: Test, wastedPerHour: number) {
  const shop = await startGateway({
    catalogue: picturesWith(t, `{ channels: true }\nlimits: { payer: { wastedPerHour: ${wastedPerHour} } }`),
    networks: ['chain-c'],
  });
  t.teardown(shop.stop);
  return shop;
}

const gateway = await shopOf(t, 2);

let opened = 0;
const another = () => {
  opened += 1;
  return openChannel(gateway, { salt: `0x${opened.toString(16).padStart(64, '0')}` });
};

t.test('who opens channel after channel has to wait', async (t) => {
  const [first, second] = [another(), another()];
  t.equal((await first.buy(fresh(gateway))).status, 200);
  t.equal((await second.buy(fresh(gateway))).status, 200);
  const third = another();
  const call = fresh(gateway);
  const spendable = await gateway.spendable('chain-c');
  const refused = await sendProof(call, await third.sign(call));
  t.equal(refused.status, 429);
  t.match(await refused.json(), { error: { code: 'rate_limited' } });
  t.equal(await gateway.spendable('chain-c'), spendable, 'and nothing was deposited');
});

t.test('a deposit whose call fails counts the same, and one that is given back does not', async (t) => {
  const fresher = await shopOf(t, 2);
  const payer = openChannel(fresher);
  await fresher.fault({ upstream: 'predictions', fault: '500' });
  t.equal((await payer.buy(fresh(fresher))).status, 500);
  await payer.scheme.refund(`${fresher.url}/v1/channels`);
  const [next, last] = ['77', '78'].map((byte) => openChannel(fresher, { salt: `0x${byte.repeat(32)}` }));
  t.equal((await next?.buy(fresh(fresher)))?.status, 200);
  const call = fresh(fresher);
  t.equal((await sendProof(call, (await last?.sign(call)) ?? {})).status, 429);
});

for (const [whose, voucherKey] of [
  ['the payer itself', undefined],
  ['a key that it names', generatePrivateKey()],
] as const) {
  t.test(`a deposit is made good by the calls that are drawn from it, whose vouchers ${whose} signs`, async (t) => {
    const shop = await shopOf(t, 2);
    for (const byte of ['01', '02', '03']) {
      const payer = openChannel(shop, { salt: `0x${byte.repeat(32)}`, ...(voucherKey && { voucherKey }) });
      for (const what of ['deposits', 'draws']) {
        t.equal((await payer.buy(fresh(shop))).status, 200, `channel ${byte} ${what}`);
      }
    }
  });
}

t.test('who may waste no more draws from what it has deposited all the same', async (t) => {
  const strict = await shopOf(t, 1);
  const payer = openChannel(strict);
  t.equal((await payer.buy(fresh(strict))).status, 200);
  const [call, other] = [fresh(strict), openChannel(strict, { salt: `0x${'79'.repeat(32)}` })];
  t.equal((await sendProof(call, await other.sign(call))).status, 429, 'another deposit has to wait');
  t.equal((await payer.buy(fresh(strict))).status, 200);
  t.equal((await other.buy(fresh(strict))).status, 200, 'until a call was paid from the first');
});

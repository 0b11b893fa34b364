/** A gateway that has lost its database, and payers who ask for what is left of their deposits: they say themselves what they owe. */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openChannel, toldOf } from '../../channels.ts';
import { startGateway } from '../../gateway.ts';
import { fresh, picturesWith } from '../../settling-first.ts';

const PRICE = 60_000n;

const gateway = await startGateway({ catalogue: picturesWith(t, '{ channels: true }'), networks: ['chain-c'] });
t.teardown(gateway.stop);

t.test('an unmodified client that asks for its deposit pays for its calls with the very voucher', async (t) => {
  const payer = openChannel(gateway);
  let id = '';
  for (let call = 0; call < 3; call += 1) id = toldOf(await payer.buy(fresh(gateway))).extra.channelState.channelId;
  const { balance, totalClaimed } = await payer.onChain(id);
  t.equal(totalClaimed, 0n, 'nothing of it is claimed yet');

  const url = await gateway.startAnother(undefined, undefined, mkdtempSync(join(gateway.directory, 'empty-')));
  const [earned, spendable] = [await gateway.earned('chain-c'), await gateway.spendable('chain-c')];
  const { amount } = await payer.scheme.refund(`${url}/v1/channels`);
  t.equal(amount, String(balance - 3n * PRICE));
  t.equal((await gateway.earned('chain-c')) - earned, 3n * PRICE);
  t.equal((await gateway.spendable('chain-c')) - spendable, balance - 3n * PRICE);
  t.same(await payer.onChain(id), { balance: 3n * PRICE, totalClaimed: 3n * PRICE });
});

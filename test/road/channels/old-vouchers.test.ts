/** Vouchers that are shown again after later ones: what they paid for can be had again, and nothing else is had for them. */
import t, { type Test } from 'tap';
import type { Hex } from 'viem';
import { sign } from 'viem/accounts';
import { voucherDigest } from '../../../src/payment/channels/channel.ts';
import { openChannel, toldOf } from '../../channels.ts';
import { type PaidCall, sendProof } from '../../clients.ts';
import { startGateway } from '../../gateway.ts';
import { fresh, picturesWith } from '../../settling-first.ts';

const PRICE = 60_000n;
const CHAIN = 84_532;

const limits = '\nlimits: { payer: { wastedPerHour: 1000, wastedPerDay: 1000 } }';
const gateway = await startGateway({
  catalogue: picturesWith(t, `{ channels: true }${limits}`),
  networks: ['chain-c'],
});
t.teardown(gateway.stop);

const privateKey = gateway.state.evm['chain-c']?.privateKey as Hex;
const refunds = `${gateway.url}/v1/channels`;

interface Payment {
  readonly payload: { readonly channelConfig: object; readonly voucher: { readonly channelId: string } };
}

const decoded = (proof: Record<string, string>): Payment =>
  JSON.parse(Buffer.from(Object.values(proof)[0] ?? '', 'base64').toString());
const encoded = (payment: object) => ({
  'payment-signature': Buffer.from(JSON.stringify(payment)).toString('base64'),
});

/** A channel that has bought `calls`, one after the other, and the proof of the first, which made the deposit. */
async function opened(t: Test, salt: string, calls: readonly PaidCall[]) {
  const payer = openChannel(gateway, { salt: `0x${salt.repeat(64)}` });
  const [first, ...others] = calls;
  if (!first) throw new Error('nothing was to be bought');
  const deposit = await payer.sign(first);
  const payment = decoded(deposit);
  const texts = [await ok(t, sendProof(first, deposit))];
  const id = payment.payload.voucher.channelId;
  /** Signed by hand: what its client would not send. */
  const voucher = async (max: bigint) => {
    const signature = await sign({ hash: voucherDigest(CHAIN, id, max) as Hex, privateKey, to: 'hex' });
    const signed = { channelId: id, maxClaimableAmount: max.toString(), signature };
    const { channelConfig } = payment.payload;
    return encoded({ ...payment, payload: { type: 'voucher', channelConfig, voucher: signed } });
  };
  for (const [at, call] of others.entries()) {
    texts.push(await ok(t, sendProof(call, await voucher(BigInt(at + 2) * PRICE))));
  }
  // The one that opened it has not heard of what came of it.
  return { payer: openChannel(gateway, { salt: `0x${salt.repeat(64)}` }), id, deposit, voucher, texts };
}
type Opened = Awaited<ReturnType<typeof opened>>;

async function ok(t: Test, sent: Promise<Response>): Promise<string> {
  const answer = await sent;
  const text = await answer.text();
  t.equal(answer.status, 200, text);
  return text;
}

/** Each gets the answer that it paid for, and nobody works for it again. */
async function haveAgain(t: Test, calls: readonly PaidCall[], { deposit, voucher, texts }: Opened): Promise<void> {
  for (const [at, call] of calls.entries()) {
    for (const proof of [await voucher(BigInt(at + 1) * PRICE), ...(at === 0 ? [deposit] : [])]) {
      const again = await sendProof(call, proof);
      t.equal(again.headers.get('idempotency-replayed'), 'true');
      t.equal(await again.text(), texts[at]);
    }
  }
}

async function refused(t: Test, what: string, sent: Promise<Response>): Promise<void> {
  const answer = await sent;
  t.equal(answer.status, 402, `${what}: ${await answer.text()}`);
}

/** Nothing is worked for, and no money moves. */
async function free(t: Test, happens: () => Promise<void>): Promise<void> {
  const [{ upstreamCalls }, spendable] = [await gateway.calls(), await gateway.spendable('chain-c')];
  await happens();
  t.equal((await gateway.calls()).upstreamCalls, upstreamCalls, 'nobody worked');
  t.equal(await gateway.spendable('chain-c'), spendable, 'no money moved');
}

/** What the channel was charged in all, as an unmodified client that has forgotten it is told by its next call. */
async function chargedBefore(t: Test, salt: string): Promise<bigint> {
  const payer = openChannel(gateway, { salt: `0x${salt.repeat(64)}` });
  const answer = await payer.buy(fresh(gateway));
  t.equal(answer.status, 200, await answer.clone().text());
  return BigInt(toldOf(answer).extra.channelState.chargedCumulativeAmount) - PRICE;
}

const another = (count: number): PaidCall[] => Array.from({ length: count }, () => fresh(gateway));

/** Old vouchers, and sums that no call comes to: `charged` in all so far. */
async function buyNothingElse(t: Test, { deposit, voucher }: Opened, calls: readonly PaidCall[], charged: bigint) {
  for (let max = PRICE; max <= charged; max += PRICE) {
    await refused(t, `${max} for another call`, sendProof(fresh(gateway), await voucher(max)));
    for (const [at, call] of calls.entries()) {
      if (BigInt(at + 1) * PRICE === max) continue;
      await refused(t, `${max} for call ${at + 1}`, sendProof(call, await voucher(max)));
    }
  }
  for (const max of [0n, 1n, PRICE - 1n, charged + 1n, charged + PRICE - 1n, charged + PRICE + 1n]) {
    await refused(t, `${max} for another call`, sendProof(fresh(gateway), await voucher(max)));
  }
  await refused(t, 'the deposit for another call', sendProof(fresh(gateway), deposit));
}

t.test('after a later voucher', async (t) => {
  const calls = another(3);
  const channel = await opened(t, '1', calls);
  await free(t, async () => {
    await haveAgain(t, calls, channel);
    await buyNothingElse(t, channel, calls, 3n * PRICE);
    await haveAgain(t, calls, channel);
  });
  t.equal(await chargedBefore(t, '1'), 3n * PRICE);
});

t.test('after a part of the deposit was given back', async (t) => {
  const calls = another(2);
  const channel = await opened(t, '2', calls);
  const { balance } = await channel.payer.onChain(channel.id);
  const given = await channel.payer.scheme.refund(refunds, { amount: String(4n * PRICE) });
  t.equal(given.amount, String(4n * PRICE));
  t.same(await channel.payer.onChain(channel.id), { balance: balance - 4n * PRICE, totalClaimed: 2n * PRICE });
  await free(t, async () => {
    await haveAgain(t, calls, channel);
    await buyNothingElse(t, channel, calls, 2n * PRICE);
  });
  t.equal(await chargedBefore(t, '2'), 2n * PRICE);
});

t.test('after all was given back, and after the channel was opened anew with the same salt', async (t) => {
  const calls = another(2);
  const channel = await opened(t, '3', calls);
  await channel.payer.scheme.refund(refunds);
  t.same(await channel.payer.onChain(channel.id), { balance: 2n * PRICE, totalClaimed: 2n * PRICE });
  await free(t, async () => {
    await haveAgain(t, calls, channel);
    await buyNothingElse(t, channel, calls, 2n * PRICE);
    await refused(t, 'what nothing is there for', sendProof(fresh(gateway), await channel.voucher(3n * PRICE)));
  });
  t.equal(await chargedBefore(t, '3'), 2n * PRICE, 'by who has forgotten it');
  t.equal((await channel.payer.buy(fresh(gateway))).status, 200, 'and by who has not');
  await free(t, async () => {
    await haveAgain(t, calls, channel);
    await buyNothingElse(t, channel, calls, 4n * PRICE);
  });
  t.equal(await chargedBefore(t, '3'), 4n * PRICE);
});

/** What payers may try with a deposit and its vouchers, and what it gets them: nothing. */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import Database from 'libsql';
import t, { type Test } from 'tap';
import { type Address, decodeFunctionData, parseAbi } from 'viem';
import { generatePrivateKey } from 'viem/accounts';
import { toDecimal } from '../../../src/money.ts';
import { BATCH_SETTLEMENT } from '../../../src/on-chain/escrow-contracts.ts';
import { channelId } from '../../../src/payment/channels/channel.ts';
import { usualIntervals } from '../../../src/payment/intervals.ts';
import { openChannel, toldOf } from '../../channels.ts';
import { type PaidCall, payV2, request, sendProof } from '../../clients.ts';
import { startGateway } from '../../gateway.ts';
import { fresh, picturesWith, termsOf } from '../../settling-first.ts';

const PRICE = 60_000n;
const DEAD_MS = 100_000;

/** Instances that start meanwhile find no chain in reach. */
let isSilent = false;
const gateway = await startGateway({
  catalogue: picturesWith(
    t,
    '{ channels: true }\nlimits: { payer: { wastedPerHour: 1000, wastedPerDay: 1000 } }',
    'llm/vendor3-5.6-terra',
    'credits/credits',
  ),
  networks: ['chain-c'],
  intervals: { reconcileEveryMs: 100, lookAgainMs: { least: 50, most: 200 } },
  between: async ({ facilitators }) => ({
    facilitators: facilitators.map(({ name, facilitator }) => ({
      name,
      facilitator: {
        ...facilitator,
        supported: () => (isSilent ? Promise.reject(new Error('no chain answers')) : facilitator.supported()),
      },
    })),
  }),
});
t.teardown(gateway.stop);

let opened = 0;
/** A channel that nobody has used before. */
const another = (options = {}) => {
  opened += 1;
  return openChannel(gateway, { salt: `0x${opened.toString(16).padStart(64, '0')}`, ...options });
};
type Payer = ReturnType<typeof another>;

/** A channel that has bought one thing. */
async function open(options = {}) {
  const payer = another(options);
  const bought = await payer.buy(fresh(gateway));
  if (bought.status !== 200) throw new Error(await bought.text());
  return { payer, id: toldOf(bought).extra.channelState.channelId };
}

interface Signed {
  accepted: { amount: string };
  payload: {
    type: string;
    channelConfig: Record<string, unknown>;
    voucher: { channelId: string; maxClaimableAmount: string; signature: string };
    deposit?: { amount: string };
  };
}

const decoded = (proof: Record<string, string>): Signed =>
  JSON.parse(Buffer.from(Object.values(proof)[0] ?? '', 'base64').toString());
const encoded = (payment: Signed): Record<string, string> => ({
  'payment-signature': Buffer.from(JSON.stringify(payment)).toString('base64'),
});

/** What the gateway's calls and money come to meanwhile. */
async function costs(happens: () => Promise<unknown>) {
  const [{ upstreamCalls }, spendable] = [await gateway.calls(), await gateway.spendable('chain-c')];
  await happens();
  return {
    calls: (await gateway.calls()).upstreamCalls - upstreamCalls,
    spent: spendable - (await gateway.spendable('chain-c')),
  };
}

/** What the channel has cost in all, as its next call tells. */
async function chargedOf(payer: Payer): Promise<bigint> {
  const next = await payer.buy(fresh(gateway));
  return BigInt(toldOf(next).extra.channelState.chargedCumulativeAmount) - PRICE;
}

const WRONG: Readonly<Record<string, (payment: Signed) => void>> = {
  'more than was signed': ({ payload }) => {
    payload.voucher.maxClaimableAmount = String(3n * PRICE);
  },
  'less than the call costs': ({ payload }) => {
    payload.voucher.maxClaimableAmount = String(PRICE + 1n);
  },
  'a signature of nobody': ({ payload }) => {
    payload.voucher.signature = `0x${'11'.repeat(64)}1b`;
  },
  'half a signature': ({ payload }) => {
    payload.voucher.signature = payload.voucher.signature.slice(0, 66);
  },
  'a signature in another form than the contract takes': ({ payload }) => {
    const { signature } = payload.voucher;
    payload.voucher.signature = signature.slice(0, -2) + (signature.endsWith('1b') ? '00' : '01');
  },
  "another's channel": ({ payload }) => {
    payload.channelConfig.payer = `0x${'22'.repeat(20)}`;
  },
  'another receiver': ({ payload }) => {
    payload.channelConfig.receiver = `0x${'22'.repeat(20)}`;
  },
  'another who claims': ({ payload }) => {
    payload.channelConfig.receiverAuthorizer = `0x${'22'.repeat(20)}`;
  },
  'a shorter delay': ({ payload }) => {
    payload.channelConfig.withdrawDelay = 900;
  },
  'nobody who signs vouchers': ({ payload }) => {
    payload.channelConfig.payerAuthorizer = `0x${'00'.repeat(20)}`;
  },
  'another token': ({ payload }) => {
    payload.channelConfig.token = `0x${'22'.repeat(20)}`;
  },
  'a refund': ({ payload }) => {
    payload.type = 'refund';
  },
  'no kind that there is': ({ payload }) => {
    payload.type = 'gift';
  },
};

t.test('a voucher that was changed after it was signed', async (t) => {
  const { payer } = await open();
  for (const [what, change] of Object.entries(WRONG)) {
    await t.test(`${what} is refused before any work`, async (t) => {
      const call = fresh(gateway);
      const payment = decoded(await payer.sign(call));
      change(payment);
      const cost = await costs(async () => {
        const answer = await sendProof(call, encoded(payment));
        t.equal(answer.status, 402);
        t.notMatch(await answer.text(), payment.payload.voucher.signature.slice(2));
      });
      t.same(cost, { calls: 0, spent: 0n });
    });
  }
  t.equal(await chargedOf(payer), PRICE, 'and nothing was charged');
});

t.test('what a channel has cost is told to who signs for it, and to nobody else', async (t) => {
  const { payer } = await open();
  const call = fresh(gateway);
  const payment = decoded(await payer.sign(call));
  const isTold = async (signature: string) => {
    const voucher = { ...payment.payload.voucher, signature };
    const answer = await sendProof(call, encoded({ ...payment, payload: { ...payment.payload, voucher } }));
    t.equal(answer.status, 402);
    return Buffer.from(answer.headers.get('payment-required') ?? '', 'base64').includes('chargedCumulativeAmount');
  };
  // By now it is signed for less than the next call needs.
  t.equal((await payer.buy(fresh(gateway))).status, 200);
  t.equal(await isTold(`0x${'11'.repeat(64)}1b`), false);
  t.equal(await isTold(payment.payload.voucher.signature), true);
});

t.test('one voucher for many requests at once buys one of them', async (t) => {
  const { payer } = await open();
  const calls = Array.from({ length: 8 }, () => fresh(gateway));
  const proofs = await Promise.all(calls.map((call) => payer.sign(call)));
  let statuses: number[] = [];
  const cost = await costs(async () => {
    const answers = await Promise.all(calls.map((call, at) => sendProof(call, proofs[at] ?? {})));
    statuses = answers.map(({ status }) => status);
  });
  t.equal(statuses.filter((status) => status === 200).length, 1);
  t.ok(
    statuses.every((status) => status === 200 || status === 402),
    `${statuses}`,
  );
  t.same(cost, { calls: 1, spent: 0n });
  t.equal(await chargedOf(payer), 2n * PRICE);
});

t.test('one voucher with one request, many times at once, is worked for once and charged once', async (t) => {
  const { payer } = await open();
  const call = fresh(gateway);
  const proof = await payer.sign(call);
  const cost = await costs(async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => sendProof(call, proof)));
    t.ok(answers.every(({ status }) => status === 200));
    t.equal(new Set(await Promise.all(answers.map((answer) => answer.text()))).size, 1);
  });
  t.same(cost, { calls: 1, spent: 0n });
  t.equal(await chargedOf(payer), 2n * PRICE);
});

t.test('more than was deposited is not drawn', async (t) => {
  const { payer, id } = await open();
  const call = fresh(gateway);
  const payment = decoded(await payer.sign(call));
  // All of ten calls is deposited; the next nine are drawn, and one more.
  for (let number = 0; number < 9; number += 1) t.equal((await payer.buy(fresh(gateway))).status, 200);
  const tenth = fresh(gateway);
  const signed = decoded(await payer.sign(tenth));
  t.equal(signed.payload.type, 'deposit', 'its client deposits again');
  const { deposit, ...alone } = signed.payload;
  const cost = await costs(async () => {
    const answer = await sendProof(tenth, encoded({ ...signed, payload: { ...alone, type: 'voucher' } }));
    t.equal(answer.status, 402);
    t.match((await answer.json()).detail, /deposit more/);
  });
  t.same(cost, { calls: 0, spent: 0n });
  t.equal(deposit?.amount, String(10n * PRICE));
  t.equal((await payer.onChain(id)).balance, 10n * PRICE);
  t.equal((await sendProof(call, encoded(payment))).status, 402, 'an old voucher buys nothing new');
});

t.test('a deposit is made once, however often it is sent', async (t) => {
  const payer = another();
  const call = fresh(gateway);
  const proof = await payer.sign(call);
  const cost = await costs(async () => {
    const answers = await Promise.all([sendProof(call, proof), sendProof(call, proof)]);
    t.ok(answers.every(({ status }) => status === 200));
    const other = fresh(gateway);
    t.equal((await sendProof(other, proof)).status, 402, 'nor for another request');
  });
  t.same(cost, { calls: 1, spent: 10n * PRICE });
});

t.test('a deposit that its payer has not the money for is refused before any work', async (t) => {
  const payer = another({ privateKey: generatePrivateKey() });
  const call = fresh(gateway);
  const cost = await costs(async () => t.equal((await sendProof(call, await payer.sign(call))).status, 402));
  t.same(cost, { calls: 0, spent: 0n });
});

t.test('a deposit is refused by the chain when it counts: nothing is worked for, and the next try pays', async (t) => {
  const payer = another();
  const call = fresh(gateway);
  const proof = await payer.sign(call);
  await gateway.fault({ settlement: 'chain-c', fault: 'refuse' });
  t.same(await costs(async () => t.equal((await sendProof(call, proof)).status, 402)), { calls: 0, spent: 0n });
  t.same(await costs(async () => t.equal((await sendProof(call, proof)).status, 200)), {
    calls: 1,
    spent: 10n * PRICE,
  });
});

t.test('a deposit whose answer is lost is found in the channel: the same payment goes on from there', async (t) => {
  const payer = another();
  const call = fresh(gateway);
  const proof = await payer.sign(call);
  const cost = await costs(async () => {
    await gateway.fault({ settlement: 'chain-c', fault: 'unknown' });
    const first = await sendProof(call, proof);
    t.equal(first.status, 409);
    t.match(await first.json(), { error: { code: 'settlement_pending' } });
    t.equal((await sendProof(call, proof)).status, 200);
  });
  t.same(cost, { calls: 1, spent: 10n * PRICE });
  t.equal(await chargedOf(payer), PRICE);
});

t.test('who leaves before the answer is charged for it, and has it for the same voucher', async (t) => {
  const { payer } = await open();
  const call = fresh(gateway);
  const proof = await payer.sign(call);
  const { upstreamCalls } = await gateway.calls();
  const leaving = new AbortController();
  const left = sendProof({ ...call, init: { ...call.init, signal: leaving.signal } }, proof).catch(() => undefined);
  while ((await gateway.calls()).upstreamCalls === upstreamCalls) await delay(2);
  leaving.abort();
  await left;
  const answer = await sendProof(call, proof);
  t.equal(answer.status, 200);
  t.equal((await gateway.calls()).upstreamCalls, upstreamCalls + 1);
  t.equal(await chargedOf(payer), 2n * PRICE);
});

t.test('a call that fails over and over is charged never, and its voucher stays good', async (t) => {
  const { payer } = await open();
  const call = fresh(gateway);
  const proof = await payer.sign(call);
  for (let number = 0; number < 5; number += 1) {
    await gateway.fault({ upstream: 'predictions', fault: '500' });
    t.equal((await sendProof(call, proof)).status, 500);
  }
  t.equal((await sendProof(call, proof)).status, 200, 'its payer cannot sign another for the same');
  t.equal(await chargedOf(payer), 2n * PRICE);
});

const multicall = parseAbi(['function multicall(bytes[] data)']);
const claim = parseAbi([
  'struct ChannelConfig { address payer; address payerAuthorizer; address receiver; address receiverAuthorizer; address token; uint40 withdrawDelay; bytes32 salt; }',
  'struct Voucher { ChannelConfig channel; uint128 maxClaimableAmount; }',
  'struct VoucherClaim { Voucher voucher; bytes signature; uint128 totalClaimed; }',
  'function claim(VoucherClaim[] voucherClaims)',
]);

/** What everybody can read of a channel once it is claimed of. */
async function readOffClaim({ reader, onChain }: Payer, id: string) {
  while ((await onChain(id)).totalClaimed === 0n) await delay(50);
  const logs = await reader.getLogs({ address: BATCH_SETTLEMENT as Address, fromBlock: 0n });
  const hash = logs.findLast(({ topics }) => topics.some((topic) => topic === id))?.transactionHash;
  const { input } = await reader.getTransaction({ hash: hash ?? '0x' });
  const [[first = '0x']] = decodeFunctionData({ abi: multicall, data: input }).args;
  const rows = decodeFunctionData({ abi: claim, data: first }).args[0];
  for (const { voucher, signature, totalClaimed: charged } of rows) {
    const { channel, maxClaimableAmount: max } = voucher;
    if (channelId(Number(await reader.getChainId()), channel) !== id) continue;
    const signed = { channelId: id, maxClaimableAmount: max.toString(), signature };
    return { charged, max, payload: { type: 'voucher', channelConfig: { ...channel }, voucher: signed } };
  }
  throw new Error('the claim has no such channel');
}

/** The payment of a call that the voucher of a claim would be the next for. */
async function payingWith({ url, init }: PaidCall, payload: Signed['payload']): Promise<Record<string, string>> {
  const { v2 } = await termsOf(await fetch(url, init));
  const accepted = v2.accepts.find(({ scheme }) => scheme === 'batch-settlement');
  return encoded({ x402Version: 2, accepted, payload } as unknown as Signed);
}

t.test('what a call by use has left of its voucher is nobody else’s, who reads it off the claim', async (t) => {
  t.teardown(gateway.stopOthers);
  const data = mkdtempSync(join(gateway.directory, 'claimed-'));
  const claims = { ...usualIntervals.claims, everyMs: 50, afterMs: 0 };
  const seller = { ...gateway, url: await gateway.startAnother(undefined, undefined, data, { claims }) };
  const salt = `0x${'ef'.repeat(32)}` as const;
  const payer = openChannel(seller, { salt });
  const ask = (prompt: string): PaidCall => request(seller, '/llm/vendor3-5.6-terra', { prompt });
  const call = ask('why does fog lift?');
  const proof = await payer.sign(call);
  const bought = await sendProof(call, proof);
  t.equal(bought.status, 200);
  const { channelId: id, chargedCumulativeAmount } = toldOf(bought).extra.channelState;
  const claimed = await readOffClaim(payer, id);
  t.equal(claimed.charged, BigInt(chargedCumulativeAmount));
  const left = claimed.max - claimed.charged;

  const opened = await payV2(seller, 'chain-c', request(seller, '/v1/credits', { amount_usd: '0.01' }));
  const { api_key: apiKey } = (await opened.json()) as { api_key: string };
  const topUp = request(seller, '/v1/credits', { amount_usd: toDecimal(left), api_key: apiKey });
  const read = await payingWith(topUp, claimed.payload);
  const refused = await sendProof(topUp, read);
  t.equal(refused.status, 402);
  t.match((await refused.json()).detail, /has paid for another call already.* another price/);
  for (let number = 1; number <= 130; number += 1) {
    const body = ' '.repeat(number) + topUp.init.body;
    t.equal((await sendProof({ ...topUp, init: { ...topUp.init, body } }, read)).status, 402);
  }
  const headers = { authorization: `Bearer ${apiKey}` };
  t.match(await (await fetch(`${seller.url}/v1/credits`, { headers })).json(), { balance_usd: '0.01' });

  const again = await sendProof(call, proof);
  t.equal(again.headers.get('idempotency-replayed'), 'true', 'who paid by it has its answer still');
  t.equal(await again.text(), await bought.text());
  const next = toldOf(await openChannel(seller, { salt }).buy(ask('why does it come back?'))).extra;
  t.equal(
    BigInt(next.channelState.chargedCumulativeAmount),
    claimed.charged + BigInt(next.chargedAmount),
    'and is not kept from its next call by who tries its old vouchers',
  );
});

/** Sent by hand: what the client itself would not send. */
async function asksBack(t: Test, payer: Payer, change: (payment: Signed) => void) {
  const url = `${gateway.url}/v1/channels`;
  let sent: Record<string, string> = {};
  const capture: typeof fetch = async (input, init) => {
    const headers = new Headers(init?.headers);
    const proof = headers.get('payment-signature');
    if (proof === null) return fetch(input, init);
    sent = { 'payment-signature': proof };
    return new Response(null, { status: 599 });
  };
  await payer.scheme.refund(url, { fetch: capture }).catch(() => undefined);
  const payment = decoded(sent);
  t.equal(payment.payload.type, 'refund');
  change(payment);
  return fetch(url, { headers: encoded(payment) });
}

t.test('a deposit is given back to its payer alone', async (t) => {
  const { payer } = await open();
  for (const what of [
    'a signature of nobody',
    "another's channel",
    'another who claims',
    'no kind that there is',
  ] as const) {
    const cost = await costs(async () =>
      t.equal((await asksBack(t, payer, WRONG[what] ?? (() => {}))).status, 402, what),
    );
    t.same(cost, { calls: 0, spent: 0n });
  }
});

/** A call that its provider is asked for, and does not answer. */
async function atWork(payer: Payer): Promise<{ proof: Record<string, string>; answer: Promise<Response> }> {
  const call = fresh(gateway);
  const proof = await payer.sign(call);
  const { upstreamCalls } = await gateway.calls();
  await gateway.fault({ upstream: 'predictions', fault: 'timeout' });
  const answer = sendProof(call, proof);
  while ((await gateway.calls()).upstreamCalls === upstreamCalls) await delay(5);
  return { proof, answer };
}

t.test('who goes on sending vouchers for a channel that is at work has to wait', async (t) => {
  const { payer } = await open();
  const { proof, answer: working } = await atWork(payer);
  const told = new Set<number>();
  // Two a second are taken: a slow machine may send few more.
  while (!told.has(429)) {
    const meanwhile = await Promise.all(Array.from({ length: 200 }, () => sendProof(fresh(gateway), proof)));
    for (const { status } of meanwhile) told.add(status);
  }
  t.same(told, new Set([402, 429]));
  t.not((await working).status, 200);
  // It is the same payer who comes next.
  while ((await another().buy(fresh(gateway))).status === 429) await delay(300);
});

// The last ones: from then on an instance whose clock is ahead takes everything that is at work for left behind.
t.test(
  'an instance dies at its work: the channel comes free, and nothing is charged',
  { timeout: 100_000 },
  async (t) => {
    const { payer } = await open();
    const { answer } = await atWork(payer);
    const other = fresh(gateway);
    t.equal((await sendProof(other, await payer.sign(other))).status, 402, 'one call draws from a channel at a time');
    const asked = await asksBack(t, payer, () => {});
    t.equal(asked.status, 402, 'nor is its deposit given back meanwhile');
    t.match(await asked.json(), { error: 'invalid_batch_settlement_evm_channel_busy' });
    // Not by the first: to this one, what the first is at work on looks left behind too.
    const again = fresh({ ...gateway, url: await gateway.startAnother(() => Date.now() + DEAD_MS) });
    let next = await sendProof(again, await payer.sign(again));
    while (next.status === 402) {
      await delay(300);
      next = await sendProof(again, await payer.sign(again));
    }
    t.equal(next.status, 200);
    t.not((await answer).status, 200, 'who worked on it notices');
    t.equal(toldOf(next).extra.channelState.chargedCumulativeAmount, String(2n * PRICE));
  },
);

t.test(
  'an instance dies at its work while the chain is out of reach: the channel comes free, and is given back',
  { timeout: 100_000 },
  async (t) => {
    await gateway.stopOthers();
    const { payer } = await open();
    const { answer } = await atWork(payer);

    const database = new Database(join(gateway.directory, 'turnpike.sqlite'), { readonly: true });
    t.teardown(() => database.close());
    const states = database.prepare(`SELECT DISTINCT state FROM payments WHERE state NOT IN ('settled', 'unsettled')`);
    isSilent = true;
    await gateway.startAnother(() => Date.now() + DEAD_MS);
    while (JSON.stringify(states.all()).includes('claimed')) await delay(50);
    t.same(states.all(), [{ state: 'released' }], 'what became of it no chain has to tell');
    await gateway.stopOthers();
    isSilent = false;

    const later = { ...gateway, url: await gateway.startAnother(() => Date.now() + DEAD_MS) };
    const next = await payer.buy(fresh(later));
    t.equal(next.status, 200);
    t.equal(toldOf(next).extra.channelState.chargedCumulativeAmount, String(2n * PRICE));
    t.equal((await payer.scheme.refund(`${later.url}/v1/channels`)).amount, String(8n * PRICE));
    t.not((await answer).status, 200);
  },
);

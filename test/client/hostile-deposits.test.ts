/** Gateways that want more of a deposit than they earned, or more deposits. */
import t from 'tap';
import { verifyTypedData } from 'viem';
import {
  answering,
  BUSY,
  charging,
  correcting,
  drawn,
  last,
  openChannel as open,
  PRICE,
  response,
} from './hostile-channel.ts';
import { account, encoded, type Hostile, honest, known, openClient, startHostile, USDC } from './hostile-gateway.ts';

const SETTLEMENT = '0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003';
const COLLECTOR = '0x4020806089470a89826cB9fB1f4059150b550004';

const unpaid = { ok: false, reason: 'unpaid', code: 'payment_required' };

t.test('nothing is deposited by a client that was not told to', async (t) => {
  const { gateway, client, signed } = await open(t, { pay: {} });
  t.match(await client.call('/x', {}), unpaid);
  gateway.accepts = [drawn(), honest];
  gateway.onPayment = (answer) => answer.end('{"here":true}');
  t.match(await client.call('/x', {}), { ok: true });
  t.same(
    signed.map(({ primaryType }) => primaryType),
    ['TransferWithAuthorization'],
  );
});

t.test('terms by which the money would be gone for long, or for somebody else, are not signed', async (t) => {
  const { gateway, client, signed } = await open(t);
  for (const [what, offer, expected] of [
    ['a month until it is back', drawn({ withdrawDelay: 2_592_000 }), unpaid],
    ['a delay that the contract does not take', drawn({ withdrawDelay: 60 }), unpaid],
    ['no delay', drawn({ withdrawDelay: undefined }), unpaid],
    ['a delay that is no number', drawn({ withdrawDelay: '86400' }), unpaid],
    ['nobody who claims', drawn({ receiverAuthorizer: `0x${'0'.repeat(40)}` }), unpaid],
    ['a claimer that is no address', drawn({ receiverAuthorizer: 'me' }), unpaid],
    ['Permit2', drawn({ assetTransferMethod: 'permit2' }), unpaid],
    ['another asset', drawn({}, { asset: honest.payTo }), unpaid],
    ['another network', drawn({}, { network: 'eip155:1' }), unpaid],
    ['a deposit beyond what may lie there', drawn({ minDeposit: '1000001' }), { ...unpaid, message: /no room/ }],
    ['all there is', drawn({ minDeposit: `${2n ** 100n}` }), unpaid],
    ['more than the limit', drawn({ minDeposit: '1' }, { amount: '1000001' }), { reason: 'limit' }],
  ] as const) {
    gateway.accepts = [offer];
    t.match(await client.call('/x', {}), expected, what);
  }
  t.same(signed, []);
  t.same(gateway.payments, []);
  t.same(client.spending.spent, '0');
  t.same(await client.deposits(), []);
});

t.test('what is signed is one deposit for our own channel, and vouchers for what calls cost', async (t) => {
  const { gateway, client, signed, sent } = await open(t);
  gateway.accepts = [drawn({ name: 'Another Coin', version: '9', chainId: 1 }, { maxTimeoutSeconds: 10 ** 9 })];
  gateway.onPayment = charging(gateway);
  for (const call of [1, 2, 3]) t.match(await client.call('/x', { call }), { ok: true, paid: { price: '0.05' } });
  const [deposit, ...vouchers] = signed;
  t.match(deposit, {
    primaryType: 'ReceiveWithAuthorization',
    domain: { name: 'USD Coin', version: '2', chainId: 8453, verifyingContract: USDC },
    message: { from: account.address, to: COLLECTOR, value: 500_000n, validAfter: 0n },
  });
  t.ok(Number(deposit?.message.validBefore) <= Date.now() / 1000 + 900);
  const [first] = sent();
  const channelId = first?.payload.voucher.channelId;
  t.match(first?.payload.channelConfig, {
    payer: account.address,
    payerAuthorizer: account.address,
    receiver: honest.payTo,
    token: USDC,
    withdrawDelay: 86_400,
    salt: /^0x[0-9a-f]{64}$/,
  });
  const domain = { name: 'x402 Batch Settlement', version: '1', chainId: 8453, verifyingContract: SETTLEMENT };
  t.same(
    vouchers.map(({ message }) => message),
    [PRICE, 2n * PRICE, 3n * PRICE].map((maxClaimableAmount) => ({ channelId, maxClaimableAmount })),
  );
  for (const voucher of vouchers) t.match(voucher, { primaryType: 'Voucher', domain });
  t.same(
    sent().map(({ payload }) => payload.type),
    ['deposit', 'voucher', 'voucher'],
  );
  t.ok(
    await verifyTypedData({
      address: account.address,
      domain: domain as typeof domain & { verifyingContract: `0x${string}` },
      types: {
        Voucher: [
          { name: 'channelId', type: 'bytes32' },
          { name: 'maxClaimableAmount', type: 'uint128' },
        ],
      },
      primaryType: 'Voucher',
      message: { channelId: channelId ?? '0x', maxClaimableAmount: PRICE },
      signature: first?.payload.voucher.signature ?? '0x',
    }),
  );
  t.same(client.spending.spent, '0.15');
  t.match(await client.deposits(), [{ network: 'chain-c', channel: channelId, left: '0.35' }]);
});

t.test('a gateway that says more was charged than was signed gets nothing more signed', async (t) => {
  const { gateway, client, vouchers, deposits } = await open(t);
  const answers: Hostile['onPayment'][] = [
    answering(gateway, () => ({ balance: '500000', chargedCumulativeAmount: '400000' })),
    answering(gateway, () => ({ balance: '500000' }), '400000'),
    answering(gateway, () => ({ balance: '-1', chargedCumulativeAmount: '1e3' }), '-50000'),
    answering(gateway, () => ({ channelId: `0x${'11'.repeat(32)}`, chargedCumulativeAmount: '0' })),
    (answer) => answer.writeHead(200, { 'payment-response': 'not base64 of JSON' }).end('{"here":true}'),
  ];
  for (const [call, onPayment] of answers.entries()) {
    gateway.onPayment = onPayment;
    t.match(await client.call('/x', { call }), { ok: true });
  }
  t.same(
    vouchers(),
    [1n, 2n, 3n, 4n, 5n].map((call) => call * PRICE),
  );
  t.same(deposits(), [500_000n]);
  t.same(client.spending.spent, '0.25');
});

t.test('a correction beyond what was signed is not followed, whatever it shows as a proof', async (t) => {
  const { gateway, client, vouchers, sent } = await open(t);
  gateway.onPayment = charging(gateway);
  t.match(await client.call('/x', {}), { ok: true });
  const own = sent()[0]?.payload.voucher.signature;
  for (const voucherState of [
    undefined,
    { signedMaxClaimable: '400000', signature: own },
    { signedMaxClaimable: '400000', signature: `0x${'11'.repeat(65)}` },
  ]) {
    gateway.onPayment = correcting(
      gateway,
      () => ({ balance: '500000', chargedCumulativeAmount: '400000' }),
      voucherState,
    );
    t.match(await client.call('/x', { voucherState }), { ok: false, reason: 'refused', code: 'payment_refused' });
  }
  t.same(vouchers(), [PRICE, 2n * PRICE, 2n * PRICE, 2n * PRICE]);
  t.same(client.spending.spent, '0.1', 'what was signed once is counted once');
});

t.test('each asset of a network has a channel of its own, and its calls are counted in its units', async (t) => {
  const other = {
    ...known,
    address: '0x4444444444444444444444444444444444444444',
    decimals: 18,
    domain: { name: 'Another Dollar', version: '1' },
  } as const;
  const { gateway, client, signed } = await open(t, { assets: [known, other], pay: { deposit: '2' } });
  // As much as there never was.
  gateway.onPayment = charging(gateway, `${10n ** 30n}`);
  t.match(await client.call('/x', { call: 1 }), { ok: true });
  const amount = `${5n * 10n ** 16n}`;
  gateway.accepts = [drawn({ minDeposit: `${5n * 10n ** 17n}` }, { asset: other.address, amount })];
  t.match(await client.call('/x', { call: 2 }), { ok: true });
  t.match(last(gateway).payload, { type: 'deposit', channelConfig: { token: other.address } });
  gateway.accepts = [drawn()];
  t.match(await client.call('/x', { call: 3 }), { ok: true });
  const vouchers = signed.filter(({ primaryType }) => primaryType === 'Voucher').map(({ message }) => message);
  t.same(
    vouchers.map(({ maxClaimableAmount }) => maxClaimableAmount),
    [PRICE, BigInt(amount), 2n * PRICE],
  );
  const [first, second, third] = vouchers.map(({ channelId }) => channelId);
  t.not(first, second);
  t.equal(first, third);
  t.match(await client.deposits(), [{ left: '0.4' }, { left: '0.45' }]);
});

t.test('a gateway and its sandbox on one network’s name have a channel each, also in one store', async (t) => {
  const sandbox = {
    ...known,
    network: 'eip155:84532',
    address: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
    domain: { name: 'USDC', version: '2' },
  } as const;
  const { gateway, client } = await open(t, { assets: [known, sandbox], pay: { deposit: '2' } });
  gateway.onPayment = charging(gateway);
  gateway.accepts = [drawn({}, { network: sandbox.network, asset: sandbox.address })];
  t.match(await client.call('/x', {}), { ok: true });
  gateway.accepts = [drawn()];
  t.match(await client.call('/x', {}), { ok: true });
  t.match(last(gateway).payload, { type: 'deposit', channelConfig: { token: USDC } });
});

t.test('one call is never signed for twice its price, however it is corrected', async (t) => {
  const { gateway, client, vouchers } = await open(t, { limit: { perCall: '0.05' } });
  gateway.onPayment = correcting(gateway, ({ payload }) => ({
    balance: '500000',
    chargedCumulativeAmount: payload.voucher.maxClaimableAmount,
  }));
  t.match(await client.call('/x', {}), { ok: false, reason: 'refused', isCounted: true });
  t.same(vouchers(), [PRICE]);
  t.equal(gateway.payments.length, 1);
  t.same(client.spending.spent, '0.05');
});

t.test('a gateway that refuses what it keeps has no more than the vouchers that were counted', async (t) => {
  const { gateway, client, vouchers, deposits } = await open(t, { limit: { total: '0.1' } });
  const reasons = [];
  for (let call = 0; call < 6; call += 1) {
    const answer = await client.call('/x', { call });
    reasons.push(answer.ok ? 'ok' : answer.reason);
  }
  t.same(reasons, Array(6).fill('refused'));
  t.same(vouchers(), Array(6).fill(PRICE), 'each is for the same money');
  t.same(deposits(), [500_000n]);
  t.same(client.spending.spent, '0.05');

  // Now it says that each refused one was charged.
  gateway.onPayment = correcting(gateway, ({ payload }) => ({
    balance: '500000',
    chargedCumulativeAmount: payload.voucher.maxClaimableAmount,
  }));
  for (let call = 0; call < 4; call += 1) await client.call('/x', { call, again: true });
  t.ok(vouchers().every((max) => Number(max) <= 100_000));
  t.match(await client.call('/x', {}), { reason: 'limit', limit: { kind: 'total', spent: '0.1' } });
});

t.test(
  'a gateway that says a deposit failed is sent the same again, and gets no second one beyond what may lie there',
  async (t) => {
    const { gateway, client, deposits, sent } = await open(t);
    gateway.onPayment = (answer) => answer.writeHead(402).end('{"detail":"the deposit was refused: no money"}');
    for (let call = 0; call < 4; call += 1) {
      t.match(await client.call('/x', { call }), { ok: false, reason: 'refused', message: /no money/ });
    }
    t.same(deposits(), [500_000n]);
    const salts = sent().map(({ payload }) => payload.deposit?.authorization.erc3009Authorization.salt);
    t.equal(salts.length, 4);
    t.equal(new Set(salts).size, 1, 'the very same, which can be made once');
    t.match(await client.deposits(), [{ left: '0.5' }], 'for nobody knows whether it was made');

    // It wants larger ones, and says that there is nothing in the channel.
    gateway.onPayment = correcting(gateway, () => ({ balance: '0', chargedCumulativeAmount: '0' }));
    for (const minDeposit of ['500001', '500000', '600000', '1000000']) {
      gateway.accepts = [drawn({ minDeposit })];
      await client.call('/x', { minDeposit });
    }
    t.same(deposits(), [500_000n]);
    gateway.accepts = [drawn({ minDeposit: '500001' })];
    t.match(await client.call('/x', {}), { ...unpaid, message: /0\.500001 USD at least.*Nothing was signed/ });
  },
);

t.test('a deposit that has ended is taken for made, and made again only within what may lie there', async (t) => {
  let kept: string | undefined;
  const depositStore = {
    read: async () => kept,
    write: async (text: string) => {
      kept = text;
    },
  };
  const types: string[] = [];
  const amounts: unknown[] = [];
  for (let run = 0; run < 4; run += 1) {
    kept = kept?.replace(/"validBefore":"[0-9]+"/, '"validBefore":"1000000000"');
    const { gateway, client, sent, deposits } = await open(t, { pay: { deposit: '1', depositStore } });
    gateway.onPayment = correcting(gateway, () => ({ balance: '0', chargedCumulativeAmount: '0' }));
    await client.call('/x', {});
    types.push(
      sent()
        .map(({ payload }) => payload.type)
        .join(),
    );
    amounts.push(...deposits());
  }
  t.same(types, ['deposit', 'voucher,deposit', 'voucher', '']);
  t.same(amounts, [500_000n, 500_000n]);
});

t.test('names that change between calls open other channels, within what may lie there in all', async (t) => {
  const { gateway, client, deposits, vouchers, sent } = await open(t);
  gateway.onPayment = charging(gateway);
  const reasons = [];
  for (let call = 1; call <= 4; call += 1) {
    const name = `0x${String(call).repeat(40)}`;
    gateway.accepts = [call % 2 ? drawn({ receiverAuthorizer: name }) : drawn({}, { payTo: name })];
    const answer = await client.call('/x', { call });
    reasons.push(answer.ok ? 'ok' : answer.reason);
  }
  t.same(reasons, ['ok', 'ok', 'unpaid', 'unpaid']);
  t.same(deposits(), [500_000n, 500_000n]);
  t.same(vouchers(), [PRICE, PRICE], 'each for a channel of its own');
  t.equal(new Set(sent().map(({ payload }) => payload.voucher.channelId)).size, 2);
  t.same(
    (await client.deposits()).map(({ left }) => left),
    ['0.45', '0.45'],
  );
});

t.test(
  'a gateway that is busy for ever keeps a caller no longer than its attempts, and charges nothing twice',
  async (t) => {
    const { gateway, client, vouchers } = await open(t, { retries: 2 });
    gateway.onPayment = (answer) => {
      const required = { x402Version: 2, error: BUSY, resource: { url: 'x' }, accepts: [drawn()] };
      answer.writeHead(402, { 'payment-required': encoded(required) }).end('{"detail":"another call draws from it"}');
    };
    t.match(await client.call('/x', {}), { ok: false, reason: 'refused', message: /another call draws/ });
    t.equal(gateway.payments.length, 3);
    t.equal(new Set(gateway.payments).size, 1, 'the very same payment');
    t.same(vouchers(), [PRICE]);
    t.same(client.spending.spent, '0.05');
  },
);

t.test('a call whose end nobody knows counts as charged, and the next goes beyond it', async (t) => {
  const { gateway, client, vouchers } = await open(t, { retries: 0 });
  gateway.onPayment = (answer) => void answer.destroy();
  const owed = await client.call('/x', {});
  t.match(owed, { ok: false, reason: 'owed', isCounted: true });
  gateway.onPayment = charging(gateway);
  t.match(await client.call('/x', { next: true }), { ok: true });
  t.same(vouchers(), [PRICE, 2n * PRICE]);
  t.match(!owed.ok && owed.reason === 'owed' && (await owed.again()), { ok: true });
  t.equal(gateway.payments[0], gateway.payments[2], 'the very same payment');
  t.same(vouchers(), [PRICE, 2n * PRICE]);
  t.same(client.spending.spent, '0.1');
});

t.test('an answer that is not kept any more was charged, and the next call goes beyond it', async (t) => {
  const { gateway, client, vouchers } = await open(t);
  gateway.onPayment = (answer) => answer.writeHead(410).end('{"error":{"code":"answer_gone"}}');
  t.match(await client.call('/x', {}), { ok: false, code: 'answer_gone', isCounted: true });
  gateway.onPayment = charging(gateway);
  t.match(await client.call('/x', { next: true }), { ok: true });
  t.same(vouchers(), [PRICE, 2n * PRICE]);
});

t.test('a gateway that says it gave back what it kept is lent as much once more', async (t) => {
  const { gateway, client, deposits } = await open(t);
  const paying = charging(gateway);
  for (let round = 0; round < 4; round += 1) {
    gateway.onPayment = paying;
    await client.call('/x', { round });
    await client.call('/x', { round, again: true });
    gateway.onPayment = (answer) => {
      const { channelId } = last(gateway).payload.voucher;
      answer.writeHead(200, response({ channelState: { channelId, balance: '0' } }, { amount: '400000' })).end('{}');
    };
    t.match(await client.refund(), [{ ok: true, network: 'chain-c', amount: '0.4' }]);
  }
  const lent = deposits().reduce<bigint>((sum, value) => sum + BigInt(String(value)), 0n);
  t.ok(lent <= 2_000_000n + 8n * PRICE, 'a dollar twice, and what calls cost');
});

t.test('what is asked back is asked for with a voucher for no more than was signed', async (t) => {
  const { gateway, client, vouchers, sent } = await open(t);
  gateway.onPayment = charging(gateway);
  await client.call('/x', {});
  gateway.onPayment = correcting(gateway, () => ({ balance: '500000', chargedCumulativeAmount: '450000' }));
  t.match(await client.refund(), [{ ok: false, network: 'chain-c', message: 'not so' }]);
  gateway.onPayment = (answer) => void answer.destroy();
  t.match(await client.refund(), [{ ok: false, message: /ask again/ }]);
  gateway.accepts = [drawn({ receiverAuthorizer: honest.payTo })];
  t.match(await client.refund(), [{ ok: false, message: /does not take vouchers of this channel/ }]);
  t.same(vouchers(), [PRICE, PRICE, PRICE]);
  t.match(sent().at(-1)?.payload, { type: 'refund', voucher: { maxClaimableAmount: String(PRICE) } });
});

t.test('no key and no signature is in what a client says', async (t) => {
  const { gateway, client, sent } = await open(t, { retries: 0 });
  const said: unknown[] = [];
  for (const onPayment of [
    (answer: Parameters<Hostile['onPayment']>[0]) => answer.writeHead(500).end('{}'),
    correcting(gateway, () => ({ balance: '0', chargedCumulativeAmount: '0' })),
    charging(gateway),
  ]) {
    gateway.onPayment = onPayment;
    said.push(await client.call('/x', { said: said.length }));
  }
  said.push(await client.deposits());
  const text = JSON.stringify(said);
  for (const { payload } of sent()) t.notOk(text.includes(payload.voucher.signature.slice(2)));
});

t.test('a deposit that is no amount, or has no wallet, is a mistake of the program', async (t) => {
  const gateway = await startHostile(t);
  t.throws(() => openClient(gateway, { pay: { deposit: '1e3' } }), { message: /^pay\.deposit: .*decimal string/ });
  t.throws(() => openClient(gateway, { assets: [], pay: { deposit: '1' } }), {
    message: /^pay\.deposit needs pay\.evm/,
  });
});

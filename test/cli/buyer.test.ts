/** What becomes of a payment between the bridge and a gateway that answers it badly, or not at all. */
import type { CallToolResult } from '@modelcontextprotocol/client';
import { generateKeyPairSigner } from '@solana/kit';
import t, { type Test } from 'tap';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { createBuyer } from '../../src/cli/mcp/buyer.ts';
import type { Asking, Order } from '../../src/cli/mcp/gateway.ts';
import { openSpending, type Spending } from '../../src/cli/mcp/spending.ts';
import { openUnanswered } from '../../src/cli/mcp/unanswered.ts';
import { openDeposits } from '../../src/client/deposits.ts';
import { inMemory } from '../../src/client/kept-channels.ts';
import { openWallet, type Payment, type SolanaSigner, type Wallet } from '../../src/client/wallet.ts';
import { usd } from '../../src/money.ts';
import { openGate } from '../relay.ts';

const account = privateKeyToAccount(generatePrivateKey());
const asset = {
  id: 'chain-c',
  network: 'eip155:8453',
  family: 'evm',
  address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  decimals: 6,
  domain: { name: 'USD Coin', version: '2' },
} as const;
const elsewhere = { ...asset, id: 'chain-e', network: 'eip155:4663' } as const;
/** Where nobody answers. */
const onSolana = {
  id: 'chain-a',
  network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
  family: 'solana',
  address: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  decimals: 6,
  rpcUrl: 'http://127.0.0.1:1',
} as const;
const PRICE = 50_000n;
const exact = {
  scheme: 'exact',
  network: asset.network,
  amount: PRICE.toString(),
  asset: asset.address,
  payTo: '0x1111111111111111111111111111111111111111',
  maxTimeoutSeconds: 60,
  extra: asset.domain,
};
const drawn = (channelState?: object) => ({
  ...exact,
  scheme: 'batch-settlement',
  extra: {
    ...exact.extra,
    receiverAuthorizer: '0x3333333333333333333333333333333333333333',
    withdrawDelay: 86_400,
    minDeposit: '500000',
    ...(channelState && { channelState }),
  },
});

const required = (offer: object, error = 'Payment required', before?: object): CallToolResult => ({
  isError: true,
  structuredContent: {
    x402Version: 2,
    error,
    resource: { url: 'mcp://tool/x' },
    accepts: before ? [before, offer] : [offer],
  },
  content: [],
});

const problem = (code: string): CallToolResult => ({
  isError: true,
  structuredContent: { error: { code, message: code } },
  content: [],
});

const here: CallToolResult = { content: [{ type: 'text', text: 'here' }] };
const isHere = { content: [{ text: 'here' }] };
const maybeCharged = { isError: true, content: [{ text: /may have been charged/ }] };

const brokenOff = (): never => {
  throw new Error('the connection broke off');
};

interface Parts {
  readonly offer: object;
  /** What is offered first. */
  readonly before?: object;
  readonly paid: (payment: Payment, order: Order, asking: Asking) => Promise<CallToolResult> | CallToolResult;
  readonly sign?: (sign: Wallet['sign']) => Wallet['sign'];
  readonly giveBack?: (giveBack: Spending['giveBack']) => Spending['giveBack'];
  readonly reserve?: (reserve: Spending['reserve']) => Spending['reserve'];
  readonly untilLate?: () => AbortSignal;
  /** Also pays. */
  readonly solana?: SolanaSigner;
}

/** A buyer that may lend a dollar, and what it sent. */
function open(
  t: Test,
  {
    offer,
    paid,
    sign = (own) => own,
    giveBack = (own) => own,
    reserve = (own) => own,
    untilLate,
    before,
    solana,
  }: Parts,
) {
  const payments: Payment[] = [];
  const evm = new Map<string, typeof account>([asset, elsewhere].map(({ id }) => [id, account]));
  const directory = t.testdir({});
  const spending = openSpending(directory, 'dollars', usd('1'));
  const unanswered = openUnanswered(directory, 'https://shop.example', () => {});
  t.teardown(unanswered.close);
  const wallet = openWallet([asset, elsewhere, onSolana], { evm, solana });
  const buyer = createBuyer({
    gateway: {
      async call(order, asking) {
        const payment = order.meta['x402/payment'] as Payment | undefined;
        if (!payment) return required(offer, undefined, before);
        payments.push(payment);
        return await paid(payment, order, asking);
      },
    },
    wallet: { ...wallet, sign: sign(wallet.sign) },
    deposits: openDeposits({
      most: usd('1'),
      assets: [asset],
      payable: [asset],
      accounts: evm,
      store: inMemory(),
    }),
    spending: { ...spending, giveBack: giveBack(spending.giveBack), reserve: reserve(spending.reserve) },
    unanswered,
    max: usd('0.10'),
    budget: usd('1'),
    tell: () => {},
    ...(untilLate && { untilLate }),
  });
  return {
    spending,
    payments,
    call: (input: object, signal?: AbortSignal) =>
      buyer.call({ name: 'x', arguments: { ...input }, meta: {} }, signal ? { signal } : {}),
    /** How many payments there were, however often each was sent. */
    signed: () => new Set(payments.map((each) => JSON.stringify(each))).size,
  };
}

/** Charges as a gateway does: the same voucher for the same call once, another only where it goes on from what was charged. */
function openChannel() {
  const answered = new Set<string>();
  let charged = 0n;
  return {
    charged: () => charged,
    charge({ payload }: Payment, order: Order): CallToolResult {
      const { voucher } = payload as { voucher: { channelId: string; maxClaimableAmount: string } };
      const key = `${voucher.maxClaimableAmount} ${JSON.stringify(order.arguments)}`;
      const state = () => ({
        channelId: voucher.channelId,
        balance: '500000',
        chargedCumulativeAmount: charged.toString(),
      });
      if (!answered.has(key)) {
        if (BigInt(voucher.maxClaimableAmount) !== charged + PRICE)
          return required(drawn(state()), 'invalid_batch_settlement_evm_cumulative_amount_mismatch');
        charged += PRICE;
        answered.add(key);
      }
      const extra = { chargedAmount: PRICE.toString(), channelState: state() };
      return { ...here, _meta: { 'x402/payment-response': { success: true, transaction: '', extra } } };
    },
  };
}

t.test('who gives up after a voucher was signed anew finds the new one again', async (t) => {
  const channel = openChannel();
  const leaving = new AbortController();
  let isLost = true;
  const { call } = open(t, {
    offer: drawn(),
    paid(payment, order) {
      if (isLost) brokenOff();
      const answer = channel.charge(payment, order);
      if (channel.charged() > 0n) leaving.abort();
      return answer;
    },
  });
  t.match(await call({ call: 1 }), maybeCharged);
  isLost = false;
  await call({ call: 2 }, leaving.signal);
  t.match(await call({ call: 2 }), isHere);
  t.equal(channel.charged(), PRICE);
});

for (const code of ['rate_limited', 'draining', 'too_many_requests', 'media_unavailable', 'unknown_path']) {
  t.test(`after a lost answer and ${code} the same payment is sent again`, async (t) => {
    const answers = [brokenOff, () => problem(code)];
    const { call, payments, signed } = open(t, { offer: exact, paid: () => answers.shift()?.() ?? here });
    t.match(await call({ call: 1 }), isHere);
    t.equal(payments.length, 3);
    t.equal(signed(), 1);
  });
}

t.test(
  'work that outlasts its connection is waited for with the same payment, however often it is asked for',
  async (t) => {
    let asked = 0;
    const paid = () => {
      asked += 1;
      if (asked === 1) return brokenOff();
      return asked <= 6 ? problem('payment_in_progress') : here;
    };
    const buyer = open(t, { offer: exact, paid });
    t.match(await buyer.call({}), isHere);
    t.equal(asked, 7);
    t.equal(buyer.signed(), 1);
  },
);

t.test('what was owed and is given back is not counted any more', async (t) => {
  const answers = [problem('result_owed'), brokenOff, problem('refunded')];
  const { call, payments, spending } = open(t, {
    offer: exact,
    paid() {
      const answer = answers.shift();
      return typeof answer === 'function' ? answer() : (answer ?? here);
    },
  });
  t.match(await call({ call: 1 }), maybeCharged);
  t.equal(await spending.left(), usd('0.95'));
  t.match(await call({ call: 1 }), { isError: true, structuredContent: { error: { code: 'refunded' } } });
  t.equal(payments.length, 3);
  t.equal(await spending.left(), usd('1'));
});

t.test('what is refused after it was worked on stays counted', async (t) => {
  let asked = 0;
  const paid = () => {
    asked += 1;
    return asked === 1 ? problem('payment_in_progress') : required(exact);
  };
  const buyer = open(t, { offer: exact, paid });
  t.match(await buyer.call({}), { isError: true, content: [{ text: /stays counted/ }] });
  t.equal(await buyer.spending.left(), usd('0.95'));
});

t.test('a code that no gateway has is no word that nothing was charged', async (t) => {
  const { call, spending } = open(t, { offer: exact, paid: () => problem('GATEWAY_TIMEOUT') });
  t.match(await call({ call: 1 }), { isError: true });
  t.equal(await spending.left(), usd('0.95'));
});

t.test('a refusal that is no word that nothing was charged costs the next call from the deposit nothing', async (t) => {
  for (const code of ['FUNCTION_INVOCATION_TIMEOUT', 'answer_gone']) {
    const channel = openChannel();
    const buyer = open(t, {
      offer: drawn(),
      paid: (payment, order) => {
        const answer = channel.charge(payment, order);
        return order.arguments.code === code ? problem(code) : answer;
      },
    });
    t.match(await buyer.call({ code }), { isError: true });
    t.match(await buyer.call({ next: true }), isHere, code);
  }
});

t.test('who gives up while a payment is signed has not paid it', async (t) => {
  const leaving = new AbortController();
  const { call, spending, payments } = open(t, {
    offer: exact,
    paid: () => here,
    sign:
      (own) =>
      async (...given) => {
        leaving.abort();
        return await own(...given);
      },
  });
  await t.rejects(call({ call: 1 }, leaving.signal));
  t.same(payments, []);
  t.equal(await spending.left(), usd('1'));
  t.match(await call({ call: 1 }), isHere);
  t.equal(payments.length, 1);
});

for (const [from, offer] of [
  ['a transfer', exact],
  ['a deposit', drawn()],
] as const) {
  t.test(`who gives up before ${from} was sent, and asks for the same at once, pays once`, async (t) => {
    const leaving = new AbortController();
    const gate = openGate();
    const hold = gate.holdNext();
    const { call, spending, payments } = open(t, {
      offer,
      paid: () => here,
      reserve:
        (own) =>
        async (...given) => {
          await gate.pass();
          return await own(...given);
        },
    });
    const left = call({ call: 1 }, leaving.signal).catch(() => {});
    await hold.reached;
    leaving.abort();
    const next = call({ call: 1 });
    hold.release();
    await left;
    t.match(await next, isHere);
    t.equal(payments.length, 1);
    t.equal(await spending.left(), usd('0.95'));
    t.match(await call({ call: 2 }), isHere);
    t.equal(payments.length, 2);
    t.equal(await spending.left(), usd('0.9'));
  });
}

for (const next of ['at once', 'later']) {
  t.test(
    `who gives up while a payment waits for its turn to be sent again, and asks ${next}, finds it again`,
    async (t) => {
      const slow = openGate();
      let isOwed = true;
      const { call, payments, signed } = open(t, {
        offer: drawn(),
        paid: async () => {
          if (isOwed) return problem('result_owed');
          await slow.pass();
          return here;
        },
      });
      t.match(await call({ call: 1 }), maybeCharged);
      isOwed = false;
      const hold = slow.holdNext();
      const other = call({ call: 2 });
      await hold.reached;
      const leaving = new AbortController();
      const waiting = call({ call: 1 }, leaving.signal);
      leaving.abort();
      const asked = next === 'at once' ? call({ call: 1 }) : undefined;
      hold.release();
      await Promise.all([other, waiting]);
      t.match(await (asked ?? call({ call: 1 })), isHere);
      t.same(payments.at(-1), payments[0]);
      t.equal(signed(), 2, 'one for each of the two calls');
    },
  );
}

t.test(
  'a payment that was refused after its caller had left is not sent again, for it is not counted any more',
  async (t) => {
    const leaving = new AbortController();
    const { call, spending, payments, signed } = open(t, {
      offer: exact,
      paid() {
        if (payments.length > 1) return here;
        leaving.abort();
        return required(exact);
      },
    });
    await call({ call: 1 }, leaving.signal).catch(() => {});
    t.equal(await spending.left(), usd('1'));
    t.match(await call({ call: 1 }), isHere);
    t.equal(signed(), 2, 'it was another payment');
    t.equal(await spending.left(), usd('0.95'), 'which is counted');
  },
);

t.test(
  'a payment that is sent for the next caller stays counted when it is refused to the one that left',
  async (t) => {
    const leaving = new AbortController();
    const gate = openGate();
    const [one, two] = [gate.holdNext(), gate.holdNext()];
    const { call, spending, payments, signed } = open(t, {
      offer: exact,
      async paid() {
        const answer = payments.length === 1 ? required(exact) : here;
        await gate.pass();
        return answer;
      },
    });
    const left = call({ call: 1 }, leaving.signal);
    await one.reached;
    leaving.abort();
    const next = call({ call: 1 });
    await two.reached;
    one.release();
    t.match(await left, { isError: true });
    two.release();
    t.match(await next, isHere);
    t.equal(signed(), 1, 'it was the same payment');
    t.equal(await spending.left(), usd('0.95'), 'which has been charged');
  },
);

t.test('who gives up while a refused payment is taken off what was spent does not have it sent again', async (t) => {
  const leaving = new AbortController();
  const gate = openGate();
  const hold = gate.holdNext();
  const { call, spending, payments, signed } = open(t, {
    offer: exact,
    paid: () => (payments.length > 1 ? here : required(exact)),
    giveBack: (own) => async (reservation, why) => {
      await gate.pass();
      await own(reservation, why);
    },
  });
  const left = call({ call: 1 }, leaving.signal);
  await hold.reached;
  leaving.abort();
  hold.release();
  await left;
  t.match(await call({ call: 1 }), isHere);
  t.equal(signed(), 2, 'it was another payment');
  t.equal(await spending.left(), usd('0.95'), 'which is counted');
});

t.test('a call from a deposit that is never answered leaves its turn to the next, and is had again', async (t) => {
  const channel = openChannel();
  const late = new AbortController();
  const signals = [late.signal];
  const silence = openGate();
  const hold = silence.holdNext();
  const { call, spending, payments } = open(t, {
    offer: drawn(),
    untilLate: () => signals.shift() ?? new AbortController().signal,
    async paid(payment, order, { signal }) {
      if (signal === late.signal) {
        const left = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
        await Promise.race([silence.pass(), left]);
      }
      return channel.charge(payment, order);
    },
  });
  const first = call({ call: 1 });
  await hold.reached;
  const second = call({ call: 2 });
  late.abort(new Error('the time is over'));
  t.match(await first, maybeCharged);
  t.match(await second, isHere);
  t.equal(channel.charged(), PRICE);
  t.equal(await spending.left(), usd('0.9'), 'the lost one stays counted');
  t.match(await call({ call: 1 }), isHere);
  t.same(payments.at(-2), payments[0], 'the same voucher is sent first');
  t.equal(channel.charged(), 2n * PRICE);
  t.equal(await spending.left(), usd('0.9'));
  silence.open();
});

t.test('where only another way than the first is within the limit, that is paid', async (t) => {
  const before = { ...exact, amount: '100001' };
  const { call, spending, payments } = open(t, { offer: exact, before, paid: () => here });
  t.match(await call({}), isHere);
  t.same(
    payments.map(({ accepted }) => accepted),
    [exact],
  );
  t.equal(await spending.left(), usd('0.95'));
  const costly = open(t, { offer: { ...before, amount: '100002' }, before, paid: () => here });
  t.match(await costly.call({}), { content: [{ text: /it costs 0\.100001 USD, and the limit/ }] });
});

t.test('nor is a way taken that is beyond what is left of the day, where another is within it', async (t) => {
  const before = { ...exact, amount: '60000' };
  const { call, spending, payments } = open(t, { offer: exact, before, paid: () => here });
  await spending.reserve(usd('0.95'), { tool: 'another', network: 'chain-c' });
  t.match(await call({}), isHere);
  t.same(
    payments.map(({ accepted }) => accepted),
    [exact],
  );
  t.equal(await spending.left(), usd('0'));
  t.match(await call({}), { content: [{ text: /it costs 0\.06 USD, and 0 USD is left/ }] });
});

t.test('where the first way cannot be signed, another key pays', async (t) => {
  const solana = await generateKeyPairSigner();
  const before = {
    ...exact,
    network: onSolana.network,
    asset: onSolana.address,
    payTo: (await generateKeyPairSigner()).address,
    extra: { feePayer: (await generateKeyPairSigner()).address },
  };
  const { call, spending, payments } = open(t, { offer: exact, before, solana, paid: () => here });
  t.match(await call({}), isHere);
  t.same(
    payments.map(({ accepted }) => accepted),
    [exact],
  );
  t.equal(await spending.left(), usd('0.95'));
  const alone = open(t, { offer: before, solana, paid: () => here });
  t.match(await alone.call({}), { isError: true, content: [{ text: /could not be made \(.*\)\. Nothing was paid/ }] });
  t.equal(await alone.spending.left(), usd('1'));
});

for (const [what, before, next, left] of [
  // What was signed of a deposit stays counted.
  ['a deposit', drawn(), /the next call is not drawn from that deposit\.$/, '0.85'],
  ['a payment', { ...exact, network: elsewhere.network }, /the next call is paid on chain-c\.$/, '0.9'],
] as const) {
  t.test(`where ${what} was refused, the next call is paid otherwise`, async (t) => {
    const { call, spending, payments } = open(t, {
      offer: exact,
      before,
      paid: ({ accepted }) => (accepted === before ? required(exact, 'the payer has too few tokens', before) : here),
    });
    const refused = await call({ call: 1 });
    t.match(refused, { content: [{ text: /too few tokens\. It says that nothing was charged\. Call x again: / }] });
    t.match(refused, { content: [{ text: next }] });
    t.match(await call({ call: 1 }), isHere);
    t.match(await call({ call: 2 }), isHere);
    t.same(
      payments.map(({ accepted }) => accepted),
      [before, exact, exact],
    );
    t.equal(await spending.left(), usd(left));
  });
}

t.test(
  'what was refused gives its room in the budget back, and is not tried elsewhere where there is nothing else',
  async (t) => {
    const { call, spending, payments } = open(t, {
      offer: exact,
      paid: () => required(exact, 'the payer has too few tokens'),
    });
    for (const time of [1, 2]) {
      t.match(await call({}), { isError: true, content: [{ text: /nothing was charged\.$/ }] });
      t.equal(payments.length, time);
    }
    t.equal(await spending.left(), usd('1'));
  },
);

t.test('of two same calls at once each keeps its own payment', async (t) => {
  let isOwed = true;
  const { call, payments, signed } = open(t, {
    offer: exact,
    paid: () => (isOwed ? problem('result_owed') : here),
  });
  t.match(await Promise.all([call({}), call({})]), [maybeCharged, maybeCharged]);
  t.equal(signed(), 2);
  isOwed = false;
  t.match([await call({}), await call({})], [isHere, isHere]);
  t.equal(payments.length, 4);
  t.equal(signed(), 2, 'both are sent again, and none besides');
  t.match(await call({}), isHere);
  t.equal(signed(), 3);
});

import type { PaymentState } from '../../../src/store/payments/states.ts';
import type { PaymentFacts } from '../../../src/store/store.ts';
import { claimable, existing, finished, unclaimable, won } from '../arrivals.ts';
import { atOnce } from '../at-once.ts';
import type { Promised } from '../promised.ts';
import { claimAt, sampleAnswer, sampleFacts, sampleReceipt } from '../samples.ts';

/** Who may work on a payment, and for how long. */
export function claiming(promise: Promised): void {
  promise(
    'lets one of 100 concurrent claims win, whichever of two instances they come from',
    async (t, store, open) => {
      const other = await open();
      const outcomes = await atOnce(100, (index) =>
        (index % 2 ? other : store).claim(sampleFacts('wanted'), claimAt(1, { owner: `instance-${index}` })),
      );
      const winner = outcomes.findIndex((outcome) => outcome.won);
      t.equal(outcomes.filter((outcome) => outcome.won).length, 1);
      for (const outcome of outcomes) {
        if (!outcome.won) t.match(outcome.payment, { owner: `instance-${winner}`, state: 'claimed', attempt: 1 });
      }
    },
    'long',
  );

  promise('lets one of 50 concurrent claims take over a lease that has run out', async (t, store, open) => {
    const other = await open();
    await store.claim(sampleFacts('left'), claimAt(1));
    const outcomes = await atOnce(50, (index) => (index % 2 ? other : store).claim(sampleFacts('left'), claimAt(20)));
    t.equal(outcomes.filter((outcome) => outcome.won).length, 1);
    t.match(await store.find('left'), { attempt: 2 });
  });

  for (const difference of ['requestDigest', 'fingerprint'] as const) {
    promise(`never gives a payment to a claim with another ${difference}`, async (t, store) => {
      const other = (id: string) => sampleFacts(id, { [difference]: 'other' });
      for (const [id, arrive] of Object.entries(claimable)) {
        await arrive(store, id);
        const before = await store.find(id);
        t.same(await store.claim(other(id), claimAt(1_000)), { won: false, payment: before }, id);
        t.same(await store.find(id), before, id);
      }
    });
  }

  promise('knows a payer by twenty of its payments, however small each was', async (t, store) => {
    const exposure = { perPayer: 10_000n, unproven: 0n, failures: 1, failuresSince: 0 };
    const claimOf = async (id: string, amount: string) => {
      const outcome = await store.claim(sampleFacts(id, { amount }), claimAt(1, { exposure }));
      if (!outcome.won) throw new Error(`${id} was not won`);
      return outcome;
    };
    for (let paid = 0; paid < 22; paid += 1) {
      const { claim } = await claimOf(`payment-${paid}`, '10');
      await store.fulfil(claim, sampleAnswer(), { now: 2 });
      await store.settle(claim, { ...sampleReceipt(`transaction-${paid}`), amount: '10' }, 3);
    }
    for (const [amount, isUnproven] of [
      ['10', false],
      ['20', false],
      ['21', false],
      ['200', false],
      ['201', true],
    ] as const) {
      const { claim, ...standing } = await claimOf(`of ${amount}`, amount);
      t.match(standing, { isUnproven, exceeds: isUnproven ? 'exposure' : undefined }, amount);
      t.equal(await store.giveUp(claim, 'released', 'none', 4), true);
    }
  });

  promise('counts what is locked no more, once its claim has said so', async (t, store) => {
    const exposure = { perPayer: 10_000n, unproven: 10_000n, failures: 1, failuresSince: 0 };
    const openBeside = async (id: string) => {
      const outcome = await store.claim(sampleFacts(id, { amount: '1' }), claimAt(1, { exposure }));
      if (!outcome.won) throw new Error(`${id} was not won`);
      await store.giveUp(outcome.claim, 'released', 'none', 2);
      return outcome.open;
    };
    const claim = await won(store, sampleFacts('held', { amount: '50' }), claimAt(1));
    t.equal(await openBeside('before'), 50n, 'it is on its way to be locked');
    t.equal(await store.cover({ ...claim, attempt: 2 }), false, 'a claim of another has no say');
    t.equal(await openBeside('still'), 50n);
    t.equal(await store.cover(claim), true);
    t.equal(await openBeside('while it is worked for'), 0n);
    await store.fulfil(claim, sampleAnswer(), { now: 2 });
    t.equal(await openBeside('done'), 0n);
    await store.giveUp(claim, 'unknown', 'no answer', 3);
    t.equal(await openBeside('whatever becomes of it'), 0n);
    t.equal(await store.cover(claim), false, 'nobody has it');
  });

  promise('makes a payer settle first once it has more under way than it may, or failed before', async (t, store) => {
    const exposure = { perPayer: 100n, unproven: 50n, failures: 2, failuresSince: 0 };
    const claimOf = async (id: string, amount: string, changes: Partial<PaymentFacts> = {}) => {
      const outcome = await store.claim(sampleFacts(id, { amount, ...changes }), claimAt(1, { exposure }));
      if (!outcome.won) throw new Error(`${id} was not won`);
      return outcome;
    };
    t.match(await claimOf('small', '50'), { open: 0n, settleUpfront: false, isUnproven: true });
    t.match(await claimOf('besides', '1'), { open: 50n, settleUpfront: true }, 'together more than a new payer may');
    t.match(await store.find('besides'), { settleUpfront: true }, 'kept, for whoever takes over');
    t.match(await claimOf('elsewhere', '1', { network: 'chain-b' }), { open: 0n, settleUpfront: false });
    const named = { ...exposure, chain: 'chain-b' };
    const both = await store.claim(sampleFacts('of both names', { amount: '1' }), claimAt(1, { exposure: named }));
    t.match(both, { won: true, open: 52n }, 'what is stored by the network’s other name is under way there, too');
    await store.giveUp({ id: 'of both names', attempt: 1 }, 'released', 'none', 2);
    t.match(await claimOf('stranger', '50', { payer: 'payer-2' }), { open: 0n, settleUpfront: false });

    const payer = 'payer-3';
    const settles = async (id: string, amount: string, paid: string) => {
      const known = await claimOf(id, amount, { payer });
      await store.fulfil(known.claim, sampleAnswer(), { now: 2 });
      await store.settle(known.claim, { ...sampleReceipt(id), amount: paid }, 3);
    };
    await settles('known', '50', '20');
    t.match(await claimOf('covered', '20', { payer }), { open: 0n, settleUpfront: false, isUnproven: false });
    t.match(await claimOf('beyond', '50', { payer }), { open: 20n, settleUpfront: false, isUnproven: true });
    t.match(await claimOf('too far', '1', { payer }), { open: 70n, exceeds: 'exposure' }, 'what it paid and 50');
    t.match(
      await claimOf('there', '51', { payer, network: 'chain-b' }),
      { exceeds: 'exposure' },
      'a record is a network’s',
    );
    for (const id of ['covered', 'beyond', 'too far']) {
      const found = { id, attempt: 1 };
      await store.giveUp(found, 'released', 'upstream_failed', 3);
    }
    await settles('more', '50', '50');
    t.match(await claimOf('trusted', '100', { payer }), { open: 0n, settleUpfront: false });
    t.match(await claimOf('more than anybody', '1', { payer }), { open: 100n, exceeds: 'exposure' });

    const fails = async (id: string, amount: string) => {
      const { claim } = await claimOf(id, amount, { payer: 'payer-6' });
      await store.fulfil(claim, sampleAnswer(), { now: 2 });
      await store.giveUp(claim, 'unsettled', 'moved away', 3);
    };
    await fails('failed', '30');
    t.match(await claimOf('less trusted', '21', { payer: 'payer-6' }), { exceeds: 'exposure' });
    await store.giveUp({ id: 'less trusted', attempt: 1 }, 'released', 'upstream_failed', 3);
    await fails('failed again', '20');
    t.match(await claimOf('not trusted', '0', { payer: 'payer-6' }), { exceeds: 'failures' });

    const lost = await claimOf('lost', '10', { payer: 'payer-4' });
    await store.fulfil(lost.claim, sampleAnswer(), { now: 2 });
    await store.giveUp(lost.claim, 'unsettled', 'the payer has too few tokens', 3);
    const { asset } = sampleFacts('lost');
    const loss = { network: 'chain-a', route: 'image/sample', payer: 'payer-4', asset, amount: '10', isCertain: true };
    t.same(
      (await store.losses(0)).filter(({ payer }) => payer !== 'payer-6'),
      [loss],
    );
    t.same(await store.losses(4), []);
    const open = await claimOf('open', '20', { payer: 'payer-5' });
    await store.fulfil(open.claim, sampleAnswer(), { now: 2 });
    await store.giveUp(open.claim, 'unknown', 'no answer', 3);
    t.same(
      (await store.losses(0)).filter(({ payer }) => payer !== 'payer-6'),
      [loss, { ...loss, payer: 'payer-5', amount: '20', isCertain: false }],
    );
  });

  promise('lets no two payments that come at once find nothing open', async (t, store) => {
    const exposure = { perPayer: 100n, unproven: 100n, failures: 1, failuresSince: 0 };
    const ids = Array.from({ length: 10 }, (_, number) => `at once ${number}`);
    const outcomes = await Promise.all(
      ids.map((id) => store.claim(sampleFacts(id, { amount: '100' }), claimAt(1, { exposure }))),
    );
    const open = outcomes
      .map((outcome) => (outcome.won ? outcome.open : -1n))
      .sort((one, other) => Number(one - other));
    t.same(
      open,
      ids.map((_, number) => BigInt(number) * 100n),
    );
    t.equal(outcomes.filter((outcome) => outcome.won && !outcome.settleUpfront).length, 1);
  });

  promise('gives back what can be claimed again, with its answer and receipt', async (t, store) => {
    const wonAs: Record<string, PaymentState> = { released: 'claimed', owed: 'settled' };
    for (const [id, arrive] of Object.entries(claimable)) {
      await arrive(store, id);
      const before = await existing(store, id);
      const outcome = await store.claim(sampleFacts(id), claimAt(1_000, { owner: 'instance-2' }));
      t.match(outcome, { won: true, claim: { id, attempt: 2 }, open: 0n, settleUpfront: false }, id);
      t.same(outcome.won && outcome.before, before, id);
      t.same(
        await store.find(id),
        {
          ...before,
          state: wonAs[id] ?? before.state,
          attempt: 2,
          owner: 'instance-2',
          leaseUntil: 1_010,
          reason: undefined,
          updatedAt: 1_000,
        },
        id,
      );
    }
  });

  promise('gives nobody a payment that is at its end or being asked about', async (t, store) => {
    for (const [id, arrive] of Object.entries(unclaimable)) {
      await arrive(store, id);
      const before = await store.find(id);
      t.same(await store.claim(sampleFacts(id), claimAt(1_000)), { won: false, payment: before }, id);
      t.same(await store.find(id), before, id);
    }
  });

  promise('leaves a payment with its owner until the lease has run out', async (t, store) => {
    await store.claim(sampleFacts('held'), claimAt(1));
    t.match(await store.claim(sampleFacts('held'), claimAt(10)), { won: false });
    t.match(await store.claim(sampleFacts('held'), claimAt(11)), { won: true });
    const paid = await won(store, sampleFacts('paid'), claimAt(1));
    await store.settle(paid, sampleReceipt(), 2);
    t.match(await store.claim(sampleFacts('paid'), claimAt(10)), { won: false }, 'also one that is paid first');
    t.match(await store.claim(sampleFacts('paid'), claimAt(11)), { won: true });
  });

  promise('gives a released payment out as often as attempts are allowed, and no more', async (t, store) => {
    for (const attempt of [1, 2, 3]) {
      const claim = await won(store, sampleFacts('hapless'), claimAt(attempt));
      t.same(claim, { id: 'hapless', attempt });
      t.equal(await store.giveUp(claim, 'released', 'upstream_failed', attempt), true);
    }
    t.match(await store.claim(sampleFacts('hapless'), claimAt(4)), {
      won: false,
      payment: { state: 'released', attempt: 3 },
    });
  });

  promise('gives an owed payment out as often as attempts are allowed, and no more', async (t, store) => {
    for (const attempt of [1, 2]) {
      const claim = await won(store, sampleFacts('hopeless'), claimAt(attempt, { maxOwedAttempts: 2 }));
      await store.settle(claim, sampleReceipt(), attempt);
      t.equal(await store.giveUp(claim, 'owed', 'upstream_failed', attempt), true);
    }
    const before = await existing(store, 'hopeless');
    const outcome = await store.claim(sampleFacts('hopeless'), claimAt(3, { maxOwedAttempts: 2 }));
    t.same(outcome, { won: false, payment: before });
    t.match(await store.claim(sampleFacts('hopeless'), claimAt(4, { maxOwedAttempts: 3 })), { won: true });
  });

  promise('counts the claims of instances that died, and gives out no payment without end', async (t, store) => {
    const bounds = { claimed: 3, fulfilled: 5, settled: 5 };
    for (const [id, most] of Object.entries(bounds)) {
      await claimable[id as keyof typeof bounds](store, id);
      for (let attempt = 2; attempt <= most; attempt += 1) {
        t.match(await store.claim(sampleFacts(id), claimAt(attempt * 100)), { won: true, claim: { attempt } }, id);
      }
      const before = await existing(store, id);
      t.same(await store.claim(sampleFacts(id), claimAt(1_000)), { won: false, payment: before }, id);
      const unbounded = claimAt(1_000, { maxAttempts: 9, maxOwedAttempts: 9 });
      t.match(await store.claim(sampleFacts(id), unbounded), { won: true }, 'to be ended');
    }
  });

  promise('gives an unknown payment to who settles it again, as often as one that is owed', async (t, store) => {
    const again = { settleAgain: true };
    await unclaimable.unknown(store, 'answered');
    const answered = await store.claim(sampleFacts('answered'), claimAt(10, again));
    t.match(answered, { won: true, before: { state: 'unknown', answer: sampleAnswer() } });
    t.match(await store.find('answered'), { state: 'fulfilled', answer: sampleAnswer(), owner: 'instance-1' });
    t.match(await store.claim(sampleFacts('answered'), claimAt(11, again)), { won: false }, 'one at a time');

    const first = await won(store, sampleFacts('first', { settleUpfront: true }), claimAt(1));
    await store.giveUp(first, 'unknown', 'no answer', 2);
    for (let attempt = 2; attempt <= 5; attempt += 1) {
      const claim = await won(store, sampleFacts('first'), claimAt(attempt, again));
      t.match(await store.find('first'), { state: 'claimed', settleUpfront: true }, 'settling comes first still');
      await store.giveUp(claim, 'unknown', 'no answer', attempt);
    }
    t.match(await store.claim(sampleFacts('first'), claimAt(6, again)), { won: false, payment: { state: 'unknown' } });
  });

  promise('forgets of no payment that it may have settled before the work', async (t, store) => {
    await won(store, sampleFacts('sent', { settleUpfront: true }), claimAt(1));
    t.match(await store.claim(sampleFacts('sent'), claimAt(100)), { won: true, settleUpfront: true });
    t.match(await store.find('sent'), { state: 'claimed', settleUpfront: true });
    const claim = await won(store, sampleFacts('failed', { settleUpfront: true }), claimAt(1));
    await store.giveUp(claim, 'released', 'upstream_failed', 2);
    t.match(await store.claim(sampleFacts('failed'), claimAt(3)), { won: true, settleUpfront: false });
    const owed = await won(store, sampleFacts('owed', { settleUpfront: true }), claimAt(1));
    await store.settle(owed, sampleReceipt(), 2);
    await store.giveUp(owed, 'owed', 'upstream_failed', 3);
    t.match(await store.claim(sampleFacts('owed'), claimAt(4)), { won: true, settleUpfront: true }, 'nor that it has');
  });

  promise('asks the chain and settles as the newest claim says, until it may have settled', async (t, store) => {
    await won(store, sampleFacts('again'), claimAt(1));
    const changes = { recoveryQuery: '{"nonce":"0x02"}', settleUpfront: true };
    const claim = await won(store, sampleFacts('again', { ...changes, payer: 'other', amount: '1' }), claimAt(100));
    t.match(await store.find('again'), { ...sampleFacts('again'), ...changes });

    const later = sampleFacts('again', { recoveryQuery: '{"nonce":"0x02","since":200}' });
    await store.giveUp(claim, 'unknown', 'no answer', 101);
    const settling = await won(store, later, claimAt(200, { settleAgain: true }));
    t.match(await store.find('again'), changes, 'one that may have settled is looked for from where it began');
    await store.settle(settling, sampleReceipt(), 201);
    await store.giveUp(settling, 'owed', 'upstream_failed', 202);
    await won(store, later, claimAt(300));
    t.match(await store.find('again'), changes, 'and so is one that has');
  });

  promise('prolongs the leases of one owner, and only of what it says it works on', async (t, store) => {
    const claimed = await won(store, sampleFacts('claimed'), claimAt(1));
    const fulfilled = await won(store, sampleFacts('fulfilled'), claimAt(1));
    await store.fulfil(fulfilled, sampleAnswer(), { now: 1 });
    const settled = await won(store, sampleFacts('settled'), claimAt(1));
    await store.settle(settled, sampleReceipt(), 1);
    const gone = await finished(store, 'finished');
    await claimable.released(store, 'released');
    const foreign = await won(store, sampleFacts('foreign'), claimAt(1, { owner: 'instance-2' }));
    await won(store, sampleFacts('stuck'), claimAt(1));

    const others = [gone, { id: 'released', attempt: 1 }, foreign, { id: 'nobody', attempt: 1 }];
    const held = await store.renew('instance-1', [claimed, fulfilled, ...others, settled], 500);
    t.same(
      held.sort((one, other) => (one.id < other.id ? -1 : 1)),
      [claimed, fulfilled, settled],
      'and says which it still has',
    );
    t.same(await store.renew('', [claimed, ...others], 900), []);
    t.same(await store.renew('instance-1', [], 900), []);
    const leases = Object.fromEntries((await store.list({ limit: 10 })).map(({ id, leaseUntil }) => [id, leaseUntil]));
    t.same(leases, { claimed: 500, fulfilled: 500, settled: 500, finished: 0, released: 0, foreign: 11, stuck: 11 });
    t.match(await store.claim(sampleFacts('claimed'), claimAt(499)), { won: false });
    const newer = await won(store, sampleFacts('claimed'), claimAt(500));
    t.same(await store.renew('instance-1', [claimed], 900), [], 'an older attempt of the same instance has nothing');
    t.same(await store.renew('instance-1', [newer], 900), [newer]);
  });

  const key = { name: 'order-7', since: 0 };

  promise(
    'lets one of 50 payments under one key win, whichever of two instances they come to',
    async (t, store, open) => {
      const other = await open();
      // One that is too old to count is in the way of nobody, and lets nobody past another.
      for (const [round, since] of [0, 100].entries()) {
        const shared = { name: 'order-7', since };
        const outcomes = await atOnce(50, (index) =>
          (index % 2 ? other : store).claim(sampleFacts(`p${round}-${index}`), claimAt(since + 50, { keys: [shared] })),
        );
        const [winner, ...others] = outcomes.filter((outcome) => outcome.won);
        t.same(others, []);
        for (const outcome of outcomes) if (!outcome.won) t.equal(outcome.payment.id, winner?.won && winner.claim.id);
        t.equal((await store.list({ limit: 100, since: since + 50 })).length, 1, 'and the others were not claimed');
      }
    },
  );

  promise('gives a key to another payment only when the first ended without moving money', async (t, store) => {
    const frees = { released: true, unsettled: true };
    for (const [id, arrive] of Object.entries({ ...claimable, ...unclaimable })) {
      const shared = { name: `key of ${id}`, since: 0 };
      await arrive(store, id);
      await store.keep(shared.name, id, 3);
      const outcome = await store.claim(sampleFacts(`second ${id}`), claimAt(1_000, { keys: [shared] }));
      t.equal(outcome.won, id in frees, id);
      if (!outcome.won) t.same(outcome.payment, await store.find(id));
    }
  });

  promise('lets a payment keep its key when it is claimed again', async (t, store) => {
    const claim = await won(store, sampleFacts('first'), claimAt(1, { keys: [key] }));
    await store.giveUp(claim, 'released', 'upstream_failed', 2);
    t.same(await won(store, sampleFacts('first'), claimAt(3, { keys: [key] })), { id: 'first', attempt: 2 });
    t.match(await store.claim(sampleFacts('second'), claimAt(4, { keys: [key] })), {
      won: false,
      payment: { id: 'first' },
    });
    t.match(await store.claim(sampleFacts('third'), claimAt(4)), { won: true });
  });

  promise('lets who takes over a payment under a key go on with both', async (t, store) => {
    await won(store, sampleFacts('left'), claimAt(1, { keys: [key] }));
    t.same(await won(store, sampleFacts('left'), claimAt(100, { keys: [key] })), { id: 'left', attempt: 2 });
    t.match(await store.claim(sampleFacts('second'), claimAt(101, { keys: [key] })), {
      won: false,
      payment: { id: 'left' },
      key: key.name,
    });
  });

  promise('has a key free whose payment is not there any more', async (t, store) => {
    await store.keep(key.name, 'forgotten', 3);
    t.match(await store.claim(sampleFacts('second'), claimAt(4, { keys: [key] })), { won: true });
    t.match(await store.claim(sampleFacts('third'), claimAt(5, { keys: [key] })), { payment: { id: 'second' } });
  });

  promise('takes no key with a payment that was not won', async (t, store) => {
    await won(store, sampleFacts('busy'), claimAt(1));
    t.match(await store.claim(sampleFacts('busy'), claimAt(2, { keys: [key] })), { won: false });
    t.match(await store.claim(sampleFacts('free'), claimAt(2, { keys: [key] })), { won: true });
  });
}

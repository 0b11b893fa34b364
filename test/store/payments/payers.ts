import type { Statement } from '../../../src/store/engines/statement.ts';
import { listPayments } from '../../../src/store/payments/payment-list-statements.ts';
import { paymentStates } from '../../../src/store/payments/states.ts';
import type { PaymentFilter, Store } from '../../../src/store/store.ts';
import { finished, won } from '../arrivals.ts';
import type { Promised } from '../promised.ts';
import { claimAt, sampleFacts } from '../samples.ts';

const WITH_CAPITALS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

async function bought(store: Store, payer: string, ids: readonly string[], now = 10): Promise<void> {
  for (const id of ids) await won(store, sampleFacts(id, { payer }), claimAt(now));
}

/** What a payer can be shown of its own. */
export function payers(promise: Promised): void {
  const idsOf = async (store: Store, filter: Partial<PaymentFilter>) =>
    (await store.list({ limit: 10, ...filter })).map(({ id }) => id);

  promise('lists what one payer paid and nothing of another, whatever the case of an EVM address', async (t, store) => {
    await bought(store, WITH_CAPITALS.toLowerCase(), ['lower']);
    await bought(store, WITH_CAPITALS, ['capitals'], 20);
    await bought(store, WITH_CAPITALS.replace(/.$/, 'e'), ['another'], 30);
    for (const payer of [WITH_CAPITALS, WITH_CAPITALS.toLowerCase(), WITH_CAPITALS.toUpperCase().replace('X', 'x')]) {
      t.same(await idsOf(store, { payer }), ['capitals', 'lower'], payer);
    }
    t.same(await idsOf(store, { payer: '' }), []);
    t.same(await idsOf(store, { payer: '0x' }), []);
    t.same(await idsOf(store, { payer: '%' }), []);
  });

  promise(
    'takes two payers for two whose addresses differ by their case alone, where case counts',
    async (t, store) => {
      await bought(store, 'HN7cABqLq46Es1jh92dQQisAq662SmxELLLsHHe4YWrH', ['one']);
      await bought(store, 'hN7cABqLq46Es1jh92dQQisAq662SmxELLLsHHe4YWrH', ['two']);
      t.same(await idsOf(store, { payer: 'HN7cABqLq46Es1jh92dQQisAq662SmxELLLsHHe4YWrH' }), ['one']);
      t.same(await idsOf(store, { payer: 'hN7cABqLq46Es1jh92dQQisAq662SmxELLLsHHe4YWrH' }), ['two']);
      t.same(await idsOf(store, { payer: 'hn7cabqlq46es1jh92dqqisaq662smxelllshhe4ywrh' }), []);
    },
  );

  promise('lists a payer page by page, each payment once, also those of one moment', async (t, store) => {
    await bought(store, 'payer-1', ['b', 'B', 'a', 'c'], 10);
    await bought(store, 'payer-1', ['new'], 20);
    await bought(store, 'payer-1', ['old'], 5);
    await bought(store, 'payer-2', ['theirs'], 10);
    await store.giveUp({ id: 'a', attempt: 1 }, 'released', 'none', 30);
    const pages: string[][] = [];
    let page = await store.list({ payer: 'payer-1', states: ['claimed'], limit: 2 });
    while (page.length > 0) {
      pages.push(page.map(({ id }) => id));
      const before = page.at(-1);
      page = before ? await store.list({ payer: 'payer-1', states: ['claimed'], before, limit: 2 }) : [];
    }
    t.same(pages, [['new', 'c'], ['b', 'B'], ['old']]);
  });

  promise('lists a payer’s payments in the states that are asked for, all of them included', async (t, store) => {
    await bought(store, 'payer-1', ['released', 'claimed'], 10);
    await store.giveUp({ id: 'released', attempt: 1 }, 'released', 'none', 30);
    const payer = 'payer-1';
    t.same(await idsOf(store, { payer, states: paymentStates }), ['released', 'claimed']);
    t.same(await idsOf(store, { payer, states: ['released', 'owed'] }), ['released']);
    t.same(await idsOf(store, { payer, states: ['owed'] }), []);
    t.same(await idsOf(store, { payer, states: [] }), []);
  });

  promise('lists payments without their answers where it is asked to', async (t, store) => {
    await finished(store, 'done');
    const whole = await store.find('done');
    t.ok(whole?.answer);
    t.same(await store.list({ limit: 1, withoutAnswers: true }), [{ ...whole, answer: undefined }]);
    t.same(await store.list({ limit: 1, withoutAnswers: false }), [whole]);
    t.same(await store.list({ limit: 1 }), [whole], 'and with them where it is not');
  });
}

/** A page of what a payer bought, as the gateway asks for it, with the values written into the SQL. */
export function pageOf(payer: string): string {
  return written(
    listPayments({
      payer,
      states: ['settled', 'owed', 'unknown', 'claimed', 'fulfilled'],
      before: { createdAt: 9_000, id: 'payment-9' },
      withoutAnswers: true,
      limit: 20,
    }),
  );
}

/** A statement with its values written into the SQL. */
export function written({ text, values }: Statement): string {
  const literal = (value: string | number | null | undefined) =>
    typeof value === 'number' ? String(value) : `'${value}'`;
  return text.replace(/\?(\d+)/g, (_, place) => literal(values[Number(place) - 1]));
}

/**
 * SQL that writes as many settled payments as `numbers`, a query of the column `n`, has rows: most are of `big`, one in
 * a hundred of `0xsmall`.
 */
export const manyPayments = (numbers: string): string => `INSERT INTO payments (id, rail, network, asset, payer, pay_to,
    amount, route, request_digest, fingerprint, recovery_query, settle_upfront, state, attempt, owner, lease_until,
    created_at, updated_at)
  SELECT 'payment-' || n, 'r', 'n', 'a', CASE n % 100 WHEN 0 THEN '0xsmall' ELSE 'big' END, 't', '1', 'route', 'd', 'f',
    '{}', 0, 'settled', 1, '', 0, n, n FROM (${numbers}) AS numbers`;

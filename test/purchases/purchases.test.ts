import { join } from 'node:path';
import { buildSIWxSchema, createSIWxPayload } from '@x402/extensions/sign-in-with-x';
import t from 'tap';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { Network } from '../../src/catalogue/types.ts';
import { openPurchases, type Purchased } from '../../src/purchases/purchases.ts';
import { openSqliteStore } from '../../src/store/engines/sqlite.ts';
import { claimAt, sampleAnswer, sampleFacts, sampleReceipt } from '../store/samples.ts';

const store = openSqliteStore(join(t.testdir({}), 'turnpike.sqlite'));
t.teardown(() => store.close());

const network = (id: string, caip2: string, decimals: number): Network => {
  const binding = { caip2, asset: { address: `asset on ${id}`, symbol: 'COIN', name: 'Coin', version: '1', decimals } };
  return { id, family: 'evm', listedAs: id, authorizationLastsMs: undefined, live: binding, sandbox: binding };
};
const networks = [network('chain-c', 'eip155:8453', 6), network('chain-x', 'eip155:56', 18)];
const signer = privateKeyToAccount(generatePrivateKey());
const publicUrl = 'https://shop.example';
let now = Date.now();
const purchases = openPurchases({
  store,
  publicUrl,
  catalogue: {
    networks: new Map(networks.map((each) => [each.id, each])),
    routes: [{ id: 'image/sample', path: '/image/sample' }],
  },
  mode: 'live',
  networks: { find: () => undefined },
  now: () => now,
});

async function prove(id?: string) {
  const { info } = purchases.challenge(id);
  return createSIWxPayload({ ...info, chainId: 'eip155:8453', type: 'eip191' }, signer, info.uri);
}

async function paid(id: string, changes: object = {}) {
  const facts = sampleFacts(id, {
    payer: signer.address.toLowerCase(),
    network: 'chain-c',
    amount: '70000',
    ...changes,
  });
  await store.claim({ ...facts, asset: `asset on ${facts.network}` }, claimAt(now));
  now += 1;
  return { id, attempt: 1 };
}

const receipt = (amount: string) => ({ ...sampleReceipt('0xfeed'), amount });

t.test('the challenge has the schema of the package’s own', async (t) => {
  t.same(purchases.challenge().schema, buildSIWxSchema());
});

t.test('a network that cannot be paid now is not in the challenge, and its wallets see what they bought', async (t) => {
  t.same(purchases.challenge().supportedChains, []);
  t.same(await purchases.list(await prove()), { payer: signer.address, purchases: [] });
});

t.test('every purchase is told with what became of it, and what moved no money is none', async (t) => {
  await store.giveUp(await paid('released'), 'released', 'upstream_failed', now);
  await store.giveUp(await paid('unsettled'), 'unsettled', 'refused', now);
  await paid('under way');
  await store.giveUp(await paid('not known'), 'unknown', 'no answer', now);
  for (const [id, reason] of [
    ['owed', 'upstream_failed'],
    ['refused for good', 'content_refused'],
  ] as const) {
    const claim = await paid(id, { settleUpfront: true });
    await store.settle(claim, receipt('70000'), now);
    await store.giveUp(claim, 'owed', reason, now);
  }
  const done = await paid('of less than was signed');
  await store.fulfil(done, sampleAnswer(), { cost: '0.05', now });
  await store.settle(done, receipt('12345'), now);
  const fine = await paid('of a finer coin', { network: 'chain-x', route: 'image/gone', amount: '1' });
  await store.fulfil(fine, sampleAnswer(), { now });
  await store.settle(fine, receipt('70000000000000001'), now);

  const listed = await purchases.list(await prove());
  const common = { endpoint: 'image/sample', path: '/image/sample', network: 'eip155:8453', asset: 'COIN' };
  const moved = { ...common, amount: '0.07', transaction: '0xfeed' };
  t.same(
    listed.purchases.map(({ boughtAt: _, answer: __, ...rest }) => rest),
    [
      {
        endpoint: 'image/gone',
        network: 'eip155:56',
        amount: '0.070000000000000001',
        asset: 'COIN',
        transaction: '0xfeed',
        state: 'settled',
      },
      { ...moved, amount: '0.012345', state: 'settled' },
      { ...moved, state: 'refund_due' },
      { ...moved, state: 'owed' },
      { ...common, amount: '0.07', state: 'unknown' },
      { ...common, amount: '0.07', state: 'pending' },
    ],
  );
  // A time of day may well read 50.059.
  const told = JSON.stringify(listed, (key, value) => (key === 'boughtAt' ? undefined : value));
  t.notMatch(told, /digest|fingerprint|recovery|0\.05|ok.*text/);
});

t.test(
  'who asks for the answer of what was refused for good is told so, and not to send the payment later',
  async (t) => {
    const answerTo = async (id: string) => purchases.answer(await prove(id), id);
    await t.rejects(answerTo('refused for good'), { code: 'result_owed', message: /refused for good .*refund is due/ });
    await t.rejects(answerTo('owed'), { code: 'result_owed', message: /the same payment gets it later/ });
  },
);

t.test('a page ends where the next one begins', async (t) => {
  const proof = await prove();
  const whole = (await purchases.list(proof)).purchases;
  const pages: Purchased[] = [await purchases.list(proof, { limit: 4 })];
  pages.push(await purchases.list(proof, { limit: 4, before: pages[0]?.next }));
  t.same(
    pages.flatMap((page) => page.purchases),
    whole,
  );
  t.equal(pages[1]?.next, undefined);
});

t.test(
  'a proof may be the decoded object, and is good until five minutes have gone by on the store’s clock',
  async (t) => {
    const proof = await prove();
    const asText = Buffer.from(JSON.stringify(proof)).toString('base64');
    t.same(await purchases.list(proof), await purchases.list(asText));
    now += 300_001;
    await t.rejects(purchases.list(proof), {
      code: 'invalid_request',
      details: [{ path: '/proof/issuedAt', expected: /^a time from .* until / }, { path: '/proof/expirationTime' }],
    });
    for (const none of [undefined, null, 7, [proof], true, { ...proof, resources: ['a'.repeat(9_000)] }]) {
      await t.rejects(purchases.list(none), { code: 'invalid_request', details: [{ path: '/proof' }] });
    }
  },
);

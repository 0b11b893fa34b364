import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { addAtlas } from '../atlas-catalogue.ts';
import { catalogueOf } from '../few-endpoints.ts';
import { startGateway } from '../gateway.ts';
import { manual } from '../manual.ts';
import { openShop, runProgram, writeClient } from './shop.ts';

/** The example of the manual, word for word. */
const [, example = ''] = /^```ts\n(\/\/ buy\.ts\n[\s\S]*?)^```$/m.exec(manual) ?? [];

const inMillionths = (dollars: string): bigint => BigInt(Math.round(Number(dollars) * 1_000_000));

/** Where the manual’s program buys, and what else is looked at. */
const catalogue = catalogueOf(t, ['image', 'llm', 'shop', 'stock', 'token']);
addAtlas(catalogue);
const gateway = await startGateway({ catalogue, networks: ['chain-c'] });
t.teardown(gateway.stop);

t.test('the manual’s program of twenty lines buys from five groups, and pays to the unit what it prints', async (t) => {
  const { directory } = await openShop(t, gateway.url);
  t.ok(example.trim().split('\n').length <= 21, 'its name, and twenty lines');
  writeFileSync(join(directory, 'buy.ts'), example);
  const before = [await gateway.spendable('chain-c'), await gateway.earned('chain-c')] as const;
  const environment = { EVM_PRIVATE_KEY: gateway.state.evm['chain-c']?.privateKey ?? '' };
  const { code, out, err } = await runProgram('buy.ts', { cwd: directory, environment });
  t.equal(code, 0, err);
  const lines = out.trim().split('\n');
  t.equal(lines.length, 5);
  const prices = lines.map((line) => /^([0-9.]+) USD 0x[0-9a-f]{64}$/.exec(line)?.[1] ?? line);
  const sum = prices.reduce((total, price) => total + inMillionths(price), 0n);
  t.same(prices.slice(0, 1), ['0.1']);
  t.equal(before[0] - (await gateway.spendable('chain-c')), sum, 'what the wallet lost');
  t.equal((await gateway.earned('chain-c')) - before[1], sum, 'what the gateway earned');
  t.equal((await gateway.calls()).settlementCount, 5);
});

t.test('a program that asks for what is not sold, or is not taken, does not compile', async (t) => {
  const shop = await openShop(t, gateway.url, '--only', 'image/family-e-2,chain-c-main/stock/arb');
  const program = (lines: string) => `
    import { createClient } from 'turnpike/client';
    import { gateway, type Paths } from './gateway.ts';
    const shop = createClient<Paths>({ ...gateway, pay: { evm: '0x' } });
    ${lines}`;
  const call = (request: string, then = '') =>
    program(`const answer = await shop.call('/image/family-e-2', ${request}); ${then}`);

  const right = [
    call("{ prompt: 'fog' }"),
    program("await shop.call('/chain-c-main/stock/arb', { sort: 'abs', min_liquidity_usd: 5 });"),
    call("{ prompt: 'fog' }", 'if (answer.ok) { const address: string = answer.result.image_url; }'),
    call(
      "{ prompt: 'fog' }",
      "if (!answer.ok && answer.reason === 'owed') { await answer.again(); answer.paid.price; }",
    ),
  ];
  const result = 'if (answer.ok) { const no: number = answer.result.image_url; }';
  const wrong = [
    ['a wrong field', call("{ prompt: 'fog', colour: 'red' }"), /'colour' does not exist/],
    ['a wrong kind of value', call('{ prompt: 7 }'), /'number' is not assignable to type 'string'/],
    ['a value that is not offered', call("{ prompt: 'fog', resolution: '8k' }"), /"8k"' is not assignable/],
    ['a field that is missing', call('{}'), /'prompt' is missing/],
    ['a path that is not sold', program("await shop.call('/image/none', { prompt: 'fog' });"), /\/image\/none/],
    ['a result before it is known', call("{ prompt: 'fog' }", 'answer.result;'), /'result' does not exist/],
    ['a result of another kind', call("{ prompt: 'fog' }", result), /'string' is not assignable to type 'number'/],
    [
      'again where nothing is owed',
      call("{ prompt: 'fog' }", 'if (!answer.ok) answer.again();'),
      /'again' does not exist/,
    ],
  ] as const;
  const errors = shop.typeErrors([...right, ...wrong.map(([, code]) => code)]);
  t.same(
    errors.slice(0, right.length),
    right.map(() => []),
    'a field with a default may be left out',
  );
  for (const [at, [what, , expected]] of wrong.entries()) {
    const found = errors[right.length + at] ?? [];
    t.equal(found.length, 1, `${what}: ${found.join('; ')}`);
    t.match(found[0], expected);
  }
});

t.test(
  'a list whose items are told by their place, and members told by a pattern, compile as they are taken',
  async (t) => {
    const shop = await openShop(t, gateway.url, '--only', 'atlas');
    const call = (request: string, then = '') => `
    import { createClient } from 'turnpike/client';
    import { gateway, type Paths } from './gateway.ts';
    const shop = createClient<Paths>({ ...gateway, pay: { evm: '0x' } });
    const answer = await shop.call('/atlas/route', ${request}); ${then}`;
    const [right, members, result, wrong, wrongMember] = shop.typeErrors([
      call("{ from: [38.7, 'west'] }"),
      call("{ from: [38.7, 'west'], by: { name: 'Ada', 'x-car': 1 } }"),
      call("{ from: [38.7, 'west'] }", 'if (answer.ok) for (const [far, where] of answer.result.way) where.at(far);'),
      call("{ from: ['west', 38.7] }"),
      call("{ from: [38.7, 'west'], by: { name: 'Ada', 'x-car': true } }"),
    ]);
    t.same([right, members, result], [[], [], []]);
    t.match(wrong?.[0], /is not assignable to type 'number'/);
    t.match(wrongMember?.[0], /'true' is not assignable to type 'string \| number/);
  },
);

t.test('the catalogue’s files and the gateway’s documents give the same types', async (t) => {
  const only = ['--only', 'image,chain-c-main/stock/arb,shop,atlas'];
  const [served, files] = await Promise.all([
    writeClient('--url', gateway.url, ...only),
    writeClient('--catalogue', catalogue, ...only),
  ]);
  t.equal(served.code, 0, served.err);
  t.equal(files.code, 0, files.err);
  const typesOf = (text: string) => /^export interface (?!Paths)[\s\S]*/m.exec(text)?.[0];
  t.ok(typesOf(served.out)?.includes('ImageFamilyE2Request'));
  t.equal(typesOf(served.out), typesOf(files.out));
  t.match(served.out, gateway.url);
  t.notMatch(served.out, '"eip155:8453"', 'a sandbox is not paid in dollars');
  t.match(files.out, '"eip155:8453"');
});

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

/** Programs that buy, compiled together: each compilation reads the types of all packages again. */
t.test('programs compile as what is sold is taken', async (t) => {
  const shop = await openShop(t, gateway.url, '--only', 'image/family-e-2,chain-c-main/stock/arb,atlas');
  const program = (lines: string) => `
    import { createClient } from 'turnpike/client';
    import { gateway, type Paths } from './gateway.ts';
    const shop = createClient<Paths>({ ...gateway, pay: { evm: '0x' } });
    ${lines}`;
  const call = (path: string, request: string, then = '') =>
    program(`const answer = await shop.call('${path}', ${request}); ${then}`);
  const draw = (request: string, then = '') => call('/image/family-e-2', request, then);
  const travel = (request: string, then = '') => call('/atlas/route', request, then);

  const right = [
    draw("{ prompt: 'fog' }"),
    program("await shop.call('/chain-c-main/stock/arb', { sort: 'abs', min_liquidity_usd: 5 });"),
    draw("{ prompt: 'fog' }", 'if (answer.ok) { const address: string = answer.result.image_url; }'),
    draw(
      "{ prompt: 'fog' }",
      "if (!answer.ok && answer.reason === 'owed') { await answer.again(); answer.paid.price; }",
    ),
  ];
  const listed = [
    travel("{ from: [38.7, 'west'] }"),
    travel("{ from: [38.7, 'west'], by: { name: 'Ada', 'x-car': 1 } }"),
    travel("{ from: [38.7, 'west'] }", 'if (answer.ok) for (const [far, where] of answer.result.way) where.at(far);'),
  ];
  const result = 'if (answer.ok) { const no: number = answer.result.image_url; }';
  const wrong = [
    ['a wrong field', draw("{ prompt: 'fog', colour: 'red' }"), /'colour' does not exist/],
    ['a wrong kind of value', draw('{ prompt: 7 }'), /'number' is not assignable to type 'string'/],
    ['a value that is not offered', draw("{ prompt: 'fog', resolution: '8k' }"), /"8k"' is not assignable/],
    ['a field that is missing', draw('{}'), /'prompt' is missing/],
    ['a path that is not sold', program("await shop.call('/image/none', { prompt: 'fog' });"), /\/image\/none/],
    ['a result before it is known', draw("{ prompt: 'fog' }", 'answer.result;'), /'result' does not exist/],
    ['a result of another kind', draw("{ prompt: 'fog' }", result), /'string' is not assignable to type 'number'/],
    [
      'again where nothing is owed',
      draw("{ prompt: 'fog' }", 'if (!answer.ok) answer.again();'),
      /'again' does not exist/,
    ],
  ] as const;
  const wrongInLists = [
    ['items in another order', travel("{ from: ['west', 38.7] }"), /is not assignable to type 'number'/],
    [
      'a member told by a pattern, of another kind',
      travel("{ from: [38.7, 'west'], by: { name: 'Ada', 'x-car': true } }"),
      /'true' is not assignable to type 'string \| number/,
    ],
  ] as const;
  const programs = [...right, ...listed, ...[...wrong, ...wrongInLists].map(([, code]) => code)];
  const errors = shop.typeErrors(programs);
  const errorsOf = (code: string): readonly string[] => errors[programs.indexOf(code)] ?? [];

  t.test('a program that asks for what is not sold, or is not taken, does not compile', async (t) => {
    t.same(right.flatMap(errorsOf), [], 'a field with a default may be left out');
    for (const [what, code, expected] of wrong) {
      const found = errorsOf(code);
      t.equal(found.length, 1, `${what}: ${found.join('; ')}`);
      t.match(found[0], expected);
    }
  });

  t.test(
    'a list whose items are told by their place, and members told by a pattern, compile as they are taken',
    async (t) => {
      t.same(listed.flatMap(errorsOf), []);
      for (const [what, code, expected] of wrongInLists) t.match(errorsOf(code)[0], expected, what);
    },
  );
});

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

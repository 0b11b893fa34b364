/** A busy minute over every network and rail, and what the books say of it afterwards. */
import { join } from 'node:path';
import Database from 'libsql';
import t, { type Test } from 'tap';
import { csvLine, jsonLine } from '../../src/books/cells.ts';
import { COLUMNS } from '../../src/books/movements.ts';
import { readPeriod } from '../../src/cli/books/period.ts';
import { usd } from '../../src/money.ts';
import { openPayer as openMppPayer } from '../../src/rails/mpp/payer.ts';
import { writeRunning } from '../../src/start/running.ts';
import { openSqliteStore } from '../../src/store/engines/sqlite.ts';
import { type PaidCall, payV1, payV2, receiptOf, request, sendProof, signProof } from '../clients.ts';
import { openCommands } from '../commands.ts';
import { openEvmWallet } from '../evm-wallet.ts';
import { startGateway } from '../gateway.ts';
import { picturesWith } from '../settling-first.ts';
import { stoppedClock } from '../stopped-clock.ts';
import { won } from '../store/arrivals.ts';
import { claimAt, sampleFacts, sampleReceipt } from '../store/samples.ts';

type Row = Record<(typeof COLUMNS)[number], string>;

const DAY_MS = 86_400_000;
const startedAt = Date.now();
const dayAfter = (days: number) => new Date(startedAt + days * DAY_MS).toISOString().slice(0, 10);
const TODAY = ['--from', dayAfter(0), '--to', dayAfter(2)];

// However much is lost here, payments go on settling after the work.
const exposure =
  '{ perPayer: "1000.00", new: "1000.00", perHour: "1000.00", lossLimit: "1000.00", settleUpfront: { afterFailures: 99 } }';
const gateway = await startGateway({
  catalogue: picturesWith(t, exposure, 'credits', 'llm/vendor3-5.6-luna', 'llm/vendor5-k3', 'video/family-h-2.5'),
  networks: ['chain-a', 'chain-c'],
  tempo: true,
  solanaNow: stoppedClock(),
});
t.teardown(gateway.stop);
t.teardown(writeRunning(gateway.directory, { pid: process.pid, url: gateway.url }));

const run = openCommands(t);
const command = (name: string, words: readonly string[], data = gateway.directory, environment = {}) =>
  run(name, words, { TURNPIKE_DATA: data, ...environment });

/** Reads CSV as RFC 4180 has it. */
function readCsv(text: string): Row[] {
  const cells = [...text.matchAll(/(?:"((?:[^"]|"")*)"|([^,\n"]*))([,\n])/g)];
  const lines: string[][] = [[]];
  for (const [, quoted, plain = '', end] of cells) {
    lines.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === '\n') lines.push([]);
  }
  const [head = [], ...rows] = lines.slice(0, -1);
  return rows.map((row) => Object.fromEntries(head.map((column, at) => [column, row[at]])) as Row);
}

const readJsonLines = (text: string): Row[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line, (_key, value) => value ?? ''));

let made = 0;
function image(door = '/image/family-e-2'): PaidCall {
  made += 1;
  return request(gateway, door, { prompt: `a lighthouse, number ${made}` });
}

/** Done while a payment is still good, on every network. */
function text(): PaidCall {
  made += 1;
  return request(gateway, '/llm/vendor3-5.6-luna', { prompt: `Tell me of harbour number ${made}.`, max_tokens: 200 });
}

const video = () => request(gateway, '/video/family-h-2.5', { prompt: 'a wave', duration: 4, resolution: '480p' });

async function payMpp(network: 'tempo' | 'chain-c'): Promise<Response> {
  const call = image('/mpp/image/family-e-2');
  const unpaid = await fetch(call.url, call.init);
  const proof = await (await openMppPayer(gateway.state, network)).sign(unpaid);
  await sendProof(call, proof);
  return sendProof(call, proof);
}

/** What a status is expected of. */
async function ended(t: Test, status: number, answer: Promise<Response>): Promise<Response> {
  const found = await answer;
  t.equal(found.status, status, await found.clone().text());
  return found;
}

const NETWORKS = ['chain-a', 'chain-c', 'tempo'] as const;
const caip2 = {
  'chain-a': gateway.state.solana?.caip2 ?? '',
  'chain-c': gateway.state.evm['chain-c']?.caip2 ?? '',
  tempo: `eip155:${gateway.state.tempo?.chainId}`,
};

t.test('a busy minute: every network and rail, replays, failures, and credits', async (t) => {
  for (const network of ['chain-a', 'chain-c']) {
    await ended(t, 200, payV2(gateway, network, image()));
    await ended(t, 200, payV1(gateway, network, image()));
    const call = image();
    const proof = await signProof(gateway, network, call);
    await Promise.all([1, 2, 3].map(() => ended(t, 200, sendProof(call, proof))));
    await gateway.fault({ upstream: 'chat', fault: '500' });
    await ended(t, 500, payV2(gateway, network, text()));
    await gateway.fault({ settlement: network, fault: 'refuse' });
    await ended(t, 402, payV2(gateway, network, text()));
    await gateway.fault({ settlement: network, fault: 'unknown' });
    await ended(t, 200, payV2(gateway, network, image()));
  }
  await gateway.fault({ upstream: 'predictions', fault: '500' });
  await ended(t, 500, payV2(gateway, 'chain-a', video()));
  await ended(t, 200, payMpp('tempo'));
  await ended(t, 200, payMpp('chain-c'));
  const bought = await ended(t, 200, payV2(gateway, 'chain-c', request(gateway, '/v1/credits', { amount_usd: '2.5' })));
  const { api_key: apiKey } = (await bought.json()) as { api_key: string };
  const body = JSON.stringify({ model: 'vendor5-k3', messages: [{ role: 'user', content: 'Why?' }], max_tokens: 1000 });
  const headers = { authorization: `Bearer ${apiKey}` };
  await ended(t, 200, fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body }));
});

const sumOf = (rows: readonly Row[], keep: (row: Row) => boolean): bigint =>
  rows.filter(keep).reduce((sum, { amount }) => sum + BigInt(amount), 0n);

for (const [format, read] of [
  ['csv', readCsv],
  ['jsonl', readJsonLines],
] as const) {
  t.test(`what is exported as ${format} is what the chains gained and what the ledger has`, async (t) => {
    const { code, out } = await command('export', [...TODAY, '--format', format]);
    t.equal(code, 0);
    const rows = read(out);
    t.same(Object.keys(rows[0] ?? {}), COLUMNS);
    t.same(
      rows.map(({ time }) => time),
      rows.map(({ time }) => time).sort(),
    );
    for (const network of NETWORKS) {
      const earned = await gateway.earned(network);
      t.ok(earned > 0n);
      t.equal(
        sumOf(rows, (row) => row.network === caip2[network]),
        earned,
        network,
      );
    }
    for (const { amount, dollars, decimals } of rows) t.equal(usd(dollars), BigInt(amount), `${decimals} decimals`);
    t.match(
      rows.filter(({ state }) => state === 'owed'),
      [{ kind: 'payment', amount: '480000', transaction: /.{80}/ }],
    );

    const store = openSqliteStore(join(gateway.directory, 'turnpike.sqlite'));
    t.teardown(() => store.close());
    const paid = (await store.list({ limit: 1_000 })).flatMap(({ receipt }) => receipt?.amount ?? []);
    t.equal(
      sumOf(rows, ({ network }) => network !== ''),
      paid.reduce((sum, amount) => sum + BigInt(amount), 0n),
    );
    const keys = await store.credits.listKeys(Date.now());
    const balances = keys.reduce((sum, { balance }) => sum + balance, 0n);
    const credits = (kind: string) => sumOf(rows, (row) => row.kind === `credits ${kind}`);
    t.equal(credits('bought'), 2_500_000n);
    t.ok(credits('charged') > 0n);
    t.equal(credits('bought') + credits('granted') - credits('charged'), balances);
  });
}

t.test('another period has nothing of it, and a mistake in one gets a message', async (t) => {
  t.equal((await command('export', ['--from', '2020-01-01', '--to', dayAfter(0)])).out, csvLine(COLUMNS));
  const mistaken = ['--from', '2026-11-01', '--to', '2026-11-02', '--format', 'xml'];
  t.match(await command('export', mistaken), { code: 1, out: '', err: /csv or jsonl: got xml/ });
  for (const [from, to, message] of [
    ['2026-11-01', undefined, /--to is missing/],
    ['2026-02-30', '2026-11-01', /--from is a day of UTC.*got 2026-02-30/],
    ['2026-11-01T10:00', '2026-11-02', /--from is a day/],
    ['2026-11-01', '2026-11-02T25:00:00Z', /--to is a day/],
    ['2026-11-02', '2026-11-01T23:00:00-01:00', /--to is not part of the period/],
  ] as const) {
    t.throws(() => readPeriod({ from, to }), { message });
  }
  t.same(readPeriod({ from: '2024-02-29', to: '2024-02-29t02:00:00.5+01:00' }), {
    from: Date.UTC(2024, 1, 29),
    to: Date.UTC(2024, 1, 29, 1, 0, 0, 500),
  });
});

t.test('books and chains agree, network by network', async (t) => {
  const earlier = await command('reconcile', ['--from', '2020-01-01', '--to', dayAfter(0)]);
  t.match(earlier, { code: 0, out: /the books have 0 USDC, the chain 0 USDC/ });
  const { code, out, err } = await command('reconcile', TODAY);
  t.equal(code, 0, out + err);
  const lines = out.trim().split('\n');
  t.equal(lines.length, NETWORKS.length);
  for (const network of NETWORKS) {
    t.match(
      lines.filter((line) => line.startsWith(`${network} (${caip2[network]})`)),
      [/: they agree$/],
    );
  }
});

t.test('what the chain has on one side of midnight and the books on the other is no difference', async (t) => {
  const rows = readJsonLines((await command('export', [...TODAY, '--format', 'jsonl'])).out);
  // Blocks are dated in whole seconds, and their receipts a moment later.
  const midnight =
    rows.filter(({ network, kind }) => network === caip2['chain-c'] && kind === 'payment').at(2)?.time ?? '';
  for (const period of [
    ['--from', dayAfter(0), '--to', midnight],
    ['--from', midnight, '--to', dayAfter(2)],
  ]) {
    const { code, out } = await command('reconcile', period);
    t.equal(code, 0, out);
    t.notMatch(out, /the books have 0 USDC/);
  }
});

t.test('a transfer that no call explains is a difference, and the only one', async (t) => {
  const wallet = await openEvmWallet(gateway, 'chain-c');
  const sent = await wallet.sign({ value: 7_777n });
  const transaction = await wallet.send(sent);
  const { code, out } = await command('reconcile', TODAY);
  t.equal(code, 1);
  const differences = out.split('\n').filter((line) => line.startsWith('  '));
  const payer = sent.authorization.from.toLowerCase();
  t.same(differences, [`  0.007777 USDC came from ${payer} in transaction ${transaction}, and no call explains it`]);
  t.match(out, /^chain-c .*: 1 difference$/m);
});

t.test('a receipt that says what its chain does not is a difference', async (t) => {
  const amount = await payV2(gateway, 'chain-a', image());
  const moved = await payV2(gateway, 'chain-c', image());
  const database = new Database(join(gateway.directory, 'turnpike.sqlite'));
  database.exec('PRAGMA busy_timeout = 5000');
  const tamper = (answer: Response, member: string, value: string) =>
    database
      .prepare(`UPDATE payments SET receipt = json_set(receipt, '$.${member}', ?) WHERE receipt LIKE ?`)
      .run(value, `%${receiptOf(answer).transaction}%`);
  tamper(amount, 'amount', '60001');
  tamper(moved, 'transaction', `0x${'12'.repeat(32)}`);
  database.close();
  const { code, out } = await command('reconcile', TODAY);
  t.equal(code, 1);
  t.match(
    out,
    /^chain-a .*: 1 difference\n {2}payment .*: its receipt says 0\.060001 USDC in .*, the chain says 0\.06 USDC$/m,
  );
  t.match(out, /receipt says 0\.06 USDC in transaction 0x(12){32}, the chain has no such payment$/m);
  t.match(out, new RegExp(`0\\.06 USDC came from 0x.* in transaction ${receiptOf(moved).transaction}`));
});

t.test('a network that cannot be asked is a difference, and so is one that was paid to another address', async (t) => {
  const data = t.testdir({});
  const store = openSqliteStore(join(data, 'turnpike.sqlite'));
  const asset = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
  const former = `0x${'34'.repeat(20)}`;
  const facts = sampleFacts('before', { network: 'chain-c', asset, payTo: former });
  const settledAt = Date.now();
  await store.settle(await won(store, facts, claimAt(settledAt)), { ...sampleReceipt(), settledAt }, settledAt);
  await store.close();
  const environment = {
    TURNPIKE_MODE: 'live',
    TURNPIKE_PUBLIC_URL: 'https://shop.example',
    TURNPIKE_FACILITATOR_URL: 'http://127.0.0.1:1',
    TURNPIKE_MPP_SECRET: 'x'.repeat(32),
    TURNPIKE_PAY_TO_CHAIN_C: `0x${'12'.repeat(20)}`,
    TURNPIKE_RPC_URL_CHAIN_C: 'http://127.0.0.1:1',
  };
  const { code, out } = await command('reconcile', TODAY, data, environment);
  t.equal(code, 1);
  const asked = (payTo: string) =>
    new RegExp(`^chain-c \\(eip155:8453\\), paid to ${payTo}: cannot be asked: the chain's node gave no answer`);
  t.match(out.trim().split('\n'), [asked(environment.TURNPIKE_PAY_TO_CHAIN_C), asked(former)]);
});

t.test('a sandbox that does not run cannot be asked', async (t) => {
  t.match(await command('reconcile', TODAY, t.testdir({})), { code: 1, err: /no gateway runs on .*npm start/ });
});

t.test('no cell is a formula to a spreadsheet, and every text comes back as it was', (t) => {
  t.equal(csvLine(['=1+1', '+1', '-1+1', '-x', '@x', '\tx']), `'=1+1,'+1,'-1+1,'-x,'@x,'\tx\n`);
  t.equal(csvLine(['-1', '-0.000001']), '-1,-0.000001\n', 'a loss is a number, which sums have to have');
  t.equal(csvLine(['\rx']), `"'\rx"\n`);
  t.equal(csvLine(['=HYPERLINK("http://a","b")']), `"'=HYPERLINK(""http://a"",""b"")"\n`);
  t.equal(csvLine(['a,b', 'c"d', 'e\nf', 'plain = 1', '']), '"a,b","c""d","e\nf",plain = 1,\n');
  t.equal(jsonLine(['a', 'b'], ['=1', '']), '{"a":"=1","b":null}\n');
  t.end();
});

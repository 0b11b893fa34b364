import { execFile } from 'node:child_process';
import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { storeName } from '../../src/cli/kept-store.ts';
import { readKeptConfig } from '../../src/gateway/config.ts';
import { openCommands, type Ran } from '../commands.ts';
import { catalogueOf } from '../few-endpoints.ts';
import { wordsFor } from '../words-for.ts';

const run = openCommands(t);

const catalogue = catalogueOf(t, ['image/family-e-2']);

/** In a process of its own. */
const runAlone = (file: string, words: readonly string[], env: Record<string, string> = {}) =>
  new Promise<Ran>((resolve) => {
    const options = { env: { PATH: process.env.PATH, ...env } };
    execFile(process.execPath, [...wordsFor(file), ...words], options, (error, out, err) => {
      resolve({ code: error ? 1 : 0, out, err });
    });
  });

const commands = [
  'check',
  'diff',
  'endpoints',
  'import',
  'payments',
  'refund',
  'backup',
  'export',
  'reconcile',
  'alerts',
  'keys',
  'pay',
  'mcp',
  'client',
  'prove-ownership',
  'reload',
];
const helped = { code: 0, out: /^npm run / };
const refused = { code: 1, out: '', err: /no-such-thing[\s\S]*npm run / };
/** 1 says there that something has changed. */
const refusedByDiff = { ...refused, code: 2 };

for (const name of commands) {
  t.test(`src/cli/${name}.ts explains itself, and takes no word that it does not know`, async (t) => {
    const data = t.testdir({});
    t.match(await runAlone(`src/cli/${name}.ts`, ['--help'], { TURNPIKE_DATA: data }), helped);
    t.match(await run(name, ['--no-such-thing'], { TURNPIKE_DATA: data }), name === 'diff' ? refusedByDiff : refused);
    t.notOk(existsSync(join(data, 'turnpike.sqlite')));
  });
}

t.test('codegen/main.ts explains itself, and takes no word that it does not know', async (t) => {
  t.match(await runAlone('codegen/main.ts', ['--help']), helped);
  t.match(await runAlone('codegen/main.ts', ['--no-such-thing']), refused);
});

t.test('turnpike start explains itself, takes no word that it does not know, and starts nothing then', async (t) => {
  const data = t.testdir({});
  // What would start says at once what it lacks.
  const env = { TURNPIKE_MODE: 'live', TURNPIKE_DATA: join(data, 'live') };
  t.match(await runAlone('src/cli/turnpike.ts', ['start', '--help'], env), { code: 0, out: /^npm start/, err: '' });
  const refusal = { code: 1, out: '', err: /no-such-thing[\s\S]*npm start/ };
  t.match(await runAlone('src/cli/turnpike.ts', ['start', '--no-such-thing'], env), refusal);
  t.notOk(existsSync(env.TURNPIKE_DATA));
  t.match(await runAlone('src/cli/turnpike.ts', ['start'], env), { code: 1, out: '', err: /TURNPIKE_PUBLIC_URL/ });
});

t.test('an answer with nothing in it names the store that was read', async (t) => {
  const data = t.testdir({});
  for (const [file, ...words] of [
    ['payments'],
    ['refund', '--list'],
    ['alerts', '--list'],
    ['keys', 'list'],
  ] as const) {
    const { code, out } = await run(file, words, { TURNPIKE_DATA: data });
    t.equal(code, 0);
    t.match(out, data);
  }
  const databaseUrl = 'postgres://u:secret-word@127.0.0.1:5432/sales';
  t.equal(storeName({ databaseUrl, dataDirectory: data }), 'the Postgres database 127.0.0.1:5432/sales');
  const socket = readKeptConfig({ DATABASE_URL: 'postgres://seller:hunter2@/sales?host=/cloudsql/a:b:c' });
  t.equal(storeName(socket), 'the Postgres database /cloudsql/a:b:c/sales');
});

t.test('a store that this user may not look at is not said to have nothing in it', async (t) => {
  const data = t.testdir({});
  // What nobody can follow, root included.
  symlinkSync('turnpike.sqlite', join(data, 'turnpike.sqlite'));
  for (const [file, ...words] of [
    ['payments', '--owed'],
    ['keys', 'list'],
    ['backup', join(data, 'copy')],
  ] as const) {
    const { code, out, err } = await run(file, words, { TURNPIKE_DATA: data });
    t.match(
      { code, out, err },
      { code: 1, out: '', err: /^\S+turnpike\.sqlite cannot be read \(ELOOP\): run this as the/ },
    );
  }
});

t.test('a live gateway’s store is read and written by who knows where it is, and nothing else of it', async (t) => {
  const data = t.testdir({});
  const env = { TURNPIKE_MODE: 'live', TURNPIKE_DATA: data, TURNPIKE_CATALOGUE: catalogue, LOG_LEVEL: 'silent' };
  const made = await run('keys', ['create', '--label', 'ada'], env);
  t.match(made, { code: 0, out: /^tp_live_/ });
  const period = ['--from', '2026-11-01', '--to', '2026-11-02'];
  const reading: [string, string[]][] = [
    ['keys', ['list']],
    ['payments', []],
    ['refund', ['--list']],
    ['alerts', ['--list']],
    ['export', period],
    ['backup', [join(data, 'backup')]],
  ];
  for (const [file, words] of reading) {
    t.match(await run(file, words, env), { code: 0, err: /^$/ }, file);
  }
  t.match(await run('reload', [], env), { code: 1, err: /^no gateway runs on / });
  t.match(await run('alerts', ['--test'], env), { code: 1, err: /^service\.yaml has no alerts/ });
  t.match(await run('reconcile', period, env), { code: 1, err: /TURNPIKE_PAY_TO_EVM/ });
  t.match(await run('keys', ['list'], { ...env, TURNPIKE_MODE: 'life' }), {
    code: 1,
    err: /MODE is life/,
  });
});

t.test('what only reads makes no database, and prints its table as JSON where that is asked for', async (t) => {
  const data = t.testdir({});
  for (const [file, words] of [
    ['payments', ['--json']],
    ['refund', ['--list', '--json']],
    ['payments', ['--margins', '--json']],
    ['alerts', ['--list', '--json']],
    ['keys', ['list', '--json']],
  ] as const) {
    const { code, out } = await run(file, words, { TURNPIKE_DATA: data });
    t.equal(code, 0);
    t.same(JSON.parse(out), []);
  }
  t.notOk(existsSync(join(data, 'turnpike.sqlite')));
  const { out } = await run('endpoints', ['--json'], { TURNPIKE_CATALOGUE: catalogue });
  const rows = JSON.parse(out) as Record<string, string>[];
  t.ok(rows.some(({ endpoint }) => endpoint === 'POST /image/family-e-2'));
  t.match(await run('keys', ['list', '--label', 'x'], { TURNPIKE_DATA: data }), {
    code: 1,
    err: /no --label/,
  });
});

import { execFile } from 'node:child_process';
import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { storeName } from '../../src/cli/kept-store.ts';
import { wordsFor } from '../words-for.ts';

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const run = (file: string, words: readonly string[], env: Record<string, string> = {}) =>
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
const files = [...commands.map((name) => `src/cli/${name}.ts`), 'codegen/main.ts'];

for (const file of files) {
  t.test(`${file} explains itself, and takes no word that it does not know`, async (t) => {
    const data = t.testdir({});
    const [help, refused] = await Promise.all(
      ['--help', '--no-such-thing'].map((word) => run(file, [word], { TURNPIKE_DATA: data })),
    );
    t.match(help, { code: 0, out: /^npm run / });
    t.match(refused, { code: 1, out: '', err: /no-such-thing[\s\S]*npm run / });
    t.notOk(existsSync(join(data, 'turnpike.sqlite')));
  });
}

t.test('an answer with nothing in it names the store that was read', async (t) => {
  const data = t.testdir({});
  for (const [file, ...words] of [['payments'], ['refund', '--list'], ['alerts', '--list'], ['keys', 'list']]) {
    const { code, out } = await run(`src/cli/${file}.ts`, words, { TURNPIKE_DATA: data });
    t.equal(code, 0);
    t.match(out, data);
  }
  const databaseUrl = 'postgres://u:secret-word@127.0.0.1:5432/sales';
  t.equal(storeName({ databaseUrl, dataDirectory: data }), 'the Postgres database 127.0.0.1:5432/sales');
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
    const { code, out, err } = await run(`src/cli/${file}.ts`, words, { TURNPIKE_DATA: data });
    t.match(
      { code, out, err },
      { code: 1, out: '', err: /^\S+turnpike\.sqlite cannot be read \(ELOOP\): run this as the/ },
    );
  }
});

t.test('a live gateway’s store is read and written by who knows where it is, and nothing else of it', async (t) => {
  const data = t.testdir({});
  const env = { TURNPIKE_MODE: 'live', TURNPIKE_DATA: data, LOG_LEVEL: 'silent' };
  const made = await run('src/cli/keys.ts', ['create', '--label', 'ada'], env);
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
    t.match(await run(`src/cli/${file}.ts`, words, env), { code: 0, err: /^$/ }, file);
  }
  t.match(await run('src/cli/reload.ts', [], env), { code: 1, err: /^no gateway runs on / });
  t.match(await run('src/cli/alerts.ts', ['--test'], env), { code: 1, err: /^service\.yaml has no alerts/ });
  t.match(await run('src/cli/reconcile.ts', period, env), { code: 1, err: /TURNPIKE_PAY_TO_EVM/ });
  t.match(await run('src/cli/keys.ts', ['list'], { ...env, TURNPIKE_MODE: 'life' }), {
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
    const { code, out } = await run(`src/cli/${file}.ts`, words, { TURNPIKE_DATA: data });
    t.equal(code, 0);
    t.same(JSON.parse(out), []);
  }
  t.notOk(existsSync(join(data, 'turnpike.sqlite')));
  const { out } = await run('src/cli/endpoints.ts', ['--json']);
  const rows = JSON.parse(out) as Record<string, string>[];
  t.ok(rows.some(({ endpoint }) => endpoint === 'POST /image/family-e-2'));
  t.match(await run('src/cli/keys.ts', ['list', '--label', 'x'], { TURNPIKE_DATA: data }), {
    code: 1,
    err: /no --label/,
  });
});

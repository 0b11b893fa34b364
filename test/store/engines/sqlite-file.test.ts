/** The file of a store: how it is opened and closed, and what is said of one that cannot be used. */
import { chmodSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { mock } from 'node:test';
import Database from 'libsql';
import t, { type Test } from 'tap';
import { Problem } from '../../../src/errors.ts';
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts';
import { schemaVersion, sqliteDialect } from '../../../src/store/migrations/migrations.ts';
import { reasonOf } from '../../../src/store/problem.ts';
import { withoutRights } from '../../without-rights.ts';
import { claimAt, sampleFacts } from '../samples.ts';
import { damageFile } from './damaged-file.ts';
import { upgrades } from './migrations.ts';

/** Somebody else who has the file open. */
function another(t: Test, file: string) {
  const database = new Database(file);
  t.teardown(() => database.close());
  return database;
}

function open(t: Test, file: string) {
  const store = openSqliteStore(file);
  t.teardown(() => store.close());
  return store;
}

t.test('makes the folders of its file, and the next who opens it finds what was written', async (t) => {
  const file = join(t.testdir({}), 'one', 'two', 'turnpike.sqlite');
  const first = openSqliteStore(file);
  t.match(await first.claim(sampleFacts('kept'), claimAt(1)), { won: true });
  await first.close();
  for (const _ of ['again', 'and again']) {
    const next = openSqliteStore(file);
    t.match(await next.find('kept'), { state: 'claimed' });
    await next.close();
  }
  t.same(another(t, file).pragma('user_version'), [{ user_version: schemaVersion }]);
});

t.test('can be read by nobody else: it has what API keys that were sold are made of', async (t) => {
  const folder = t.testdir({});
  const file = join(folder, 'own.sqlite');
  const store = open(t, file);
  await store.claim(sampleFacts('written'), claimAt(1));
  const names = readdirSync(folder);
  t.ok(names.length > 1, 'with its log');
  for (const name of names) t.equal(statSync(join(folder, name)).mode & 0o077, 0, name);
});

for (const { what, version, write, isKept } of upgrades) {
  t.test(what, async (t) => {
    const file = join(t.testdir({}), 'old.sqlite');
    const database = new Database(file);
    database.exec('BEGIN');
    await write(sqliteDialect, async (sql) => database.exec(sql));
    database.exec(`PRAGMA user_version = ${version}; COMMIT`);
    database.close();
    await isKept(t, open(t, file));
  });
}

t.test('what is asked before a store is closed is written before it is, and nothing is asked after', async (t) => {
  const file = join(t.testdir({}), 'closed.sqlite');
  const store = openSqliteStore(file);
  const claimed = store.claim(sampleFacts('last'), claimAt(1));
  await store.close();
  t.same(another(t, file).prepare('SELECT id FROM payments').all(), [{ id: 'last' }]);
  t.match(await claimed, { won: true });
  await store.close();
  const closed = { message: 'The store is closed' };
  await t.rejects(store.find('last'), closed);
  await t.rejects(store.keep('key', 'value', 1), closed);
  await t.rejects(store.claim(sampleFacts('late'), claimAt(1)), closed);
});

t.test('who reads the file, as a backup does, keeps nobody from writing', async (t) => {
  const file = join(t.testdir({}), 'read.sqlite');
  const store = open(t, file);
  const reader = another(t, file);
  reader.exec('BEGIN; SELECT count(*) FROM payments');
  t.match(await store.claim(sampleFacts('meanwhile'), claimAt(1)), { won: true });
  t.match(await store.find('meanwhile'), { state: 'claimed' });
});

t.test('keeps nothing of a store in memory', async (t) => {
  const store = open(t, ':memory:');
  t.match(await store.claim(sampleFacts('brief'), claimAt(1)), { won: true });
  t.match(await store.find('brief'), { state: 'claimed' });
  t.equal(await open(t, ':memory:').find('brief'), undefined);
});

t.test('refuses an identifier that the database would cut short', async (t) => {
  const store = open(t, ':memory:');
  for (const ask of [() => store.claim(sampleFacts('one\0two'), claimAt(1)), () => store.find('one\0two')]) {
    const error = await ask().catch((error: unknown) => error);
    t.match(error, { message: 'A text for the database contains a NUL character, which it cannot hold' });
    t.notOk(error instanceof Problem, 'it would be refused again');
  }
});

t.test('what the database says of a statement of ours is no outage', async (t) => {
  const file = join(t.testdir({}), 'changed.sqlite');
  const store = open(t, file);
  another(t, file).exec('DROP TABLE kept');
  await t.rejects(store.cached('key', 0), { name: 'SqliteError', code: 'SQLITE_ERROR' });
  await t.rejects(store.keep('key', 'value', 1), { name: 'SqliteError', code: 'SQLITE_ERROR' });
});

t.test('what a damaged file has lost cannot be had now, and the operator reads why', async (t) => {
  const file = join(t.testdir({}), 'damaged.sqlite');
  await damageFile(file);
  const store = open(t, file);
  const unavailable = {
    code: 'store_unavailable',
    cause: { message: 'SQLITE_CORRUPT: database disk image is malformed' },
  };
  await t.rejects(store.find('lost'), unavailable);
  await t.rejects(store.claim(sampleFacts('next'), claimAt(1)), unavailable);
  await store.keep('key', 'value', 1);
  t.match(await store.cached('key', 0), { value: 'value' }, 'the rest of it is there');
});

/** What the clock says each time that it is looked at; the last is said for ever. */
function clockSaying(t: Test, ...looks: (() => number)[]): void {
  let last = () => 0;
  const clock = mock.method(Date, 'now', () => {
    last = looks.shift() ?? last;
    return last();
  });
  t.teardown(() => clock.mock.restore());
}

t.test('waits five seconds for others who are making the file', async (t) => {
  const file = join(t.testdir({}), 'new.sqlite');
  const others = another(t, file);
  others.exec('BEGIN IMMEDIATE; CREATE TABLE theirs (n INTEGER)');
  clockSaying(
    t,
    () => 1_000,
    () => 4_000,
    () => {
      others.exec('COMMIT');
      return 6_000;
    },
  );
  t.match(await open(t, file).claim(sampleFacts('then'), claimAt(1)), { won: true });
});

t.test('names the file when others keep it for longer', async (t) => {
  const file = join(t.testdir({}), 'taken.sqlite');
  another(t, file).exec('BEGIN IMMEDIATE; CREATE TABLE theirs (n INTEGER)');
  clockSaying(
    t,
    () => 1_000,
    () => 6_001,
  );
  t.throws(() => openSqliteStore(file), {
    name: 'StoreProblem',
    message: `The database file ${file} cannot be used: database is locked`,
  });
});

t.test('names the file, and what to do, when it comes from a newer release', async (t) => {
  const file = join(t.testdir({}), 'future.sqlite');
  const version = schemaVersion + 1;
  another(t, file).exec(`PRAGMA user_version = ${version}`);
  t.throws(() => openSqliteStore(file), {
    name: 'StoreProblem',
    message:
      `The database file ${file} cannot be used: the database has schema version ${version}, and this release ` +
      `knows up to ${schemaVersion}: start the newer release that made it, or name another database`,
  });
});

t.test('names the file in full, and at once, when it is no database or cannot be made', async (t) => {
  const folder = t.testdir({ 'text.sqlite': 'x'.repeat(5_000), file: '' });
  // A clock that stands still: who waited for what does not change would wait for ever.
  clockSaying(t, () => 0);
  const text = join(folder, 'text.sqlite');
  const notADatabase = {
    name: 'StoreProblem',
    message: `The database file ${text} cannot be used: file is not a database`,
    cause: { code: 'SQLITE_NOTADB' },
  };
  t.throws(() => openSqliteStore(text), notADatabase);
  t.throws(() => openSqliteStore(relative('.', text)), notADatabase);
  const below = join(folder, 'file', 'below.sqlite');
  t.throws(() => openSqliteStore(below), { name: 'StoreProblem', message: /below\.sqlite cannot be used: EEXIST/ });
});

t.test('says what to do where the file, its log or its directory may not be written', async (t) => {
  const folder = t.testdir({ 'shut.sqlite': '', there: {} });
  const [restored = '', there = ''] = ['restored.sqlite', 'there/kept.sqlite'].map((name) => join(folder, name));
  for (const file of [restored, there]) {
    await openSqliteStore(file).close();
    chmodSync(file, 0o666);
  }
  chmodSync(join(folder, 'shut.sqlite'), 0o000);
  chmodSync(folder, 0o777);
  writeFileSync(`${restored}-wal`, '', { mode: 0o000 });
  chmodSync(join(folder, 'there'), 0o555);
  const message =
    /cannot be used: .*\. Let the user that runs this write its directory and what is in there, or set TURNPIKE_DATA to another one$/;
  for (const path of ['shut.sqlite', 'restored.sqlite', 'there/kept.sqlite', 'there/below/new.sqlite']) {
    t.throws(() => withoutRights(() => openSqliteStore(join(folder, path))), { name: 'StoreProblem', message }, path);
  }
  // Else the folder could not be taken away.
  chmodSync(join(folder, 'there'), 0o755);
});

t.test('says of a file that was taken away, or replaced, that what is written is lost', async (t) => {
  const file = join(t.testdir({}), 'turnpike.sqlite');
  const store = open(t, file);
  const fault = () => store.check().then(() => undefined, reasonOf);
  t.equal(await fault(), undefined);
  const lost = `${file} was taken away or replaced: put it back before this process ends, or what it writes now is lost`;
  renameSync(file, `${file}.away`);
  t.equal(await fault(), lost);
  writeFileSync(file, '');
  t.equal(await fault(), lost);
  renameSync(`${file}.away`, file);
  t.equal(await fault(), undefined);
});

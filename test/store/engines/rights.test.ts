/** What the user of DATABASE_URL may do there: less than the owner of the tables, as after a dump was restored by another. */
import pg from 'pg';
import t, { type Test } from 'tap';
import { openPostgresStore } from '../../../src/store/engines/postgres.ts';
import { demandMode } from '../../../src/store/of-one-mode.ts';
import { watchStore } from '../../../src/store/readiness.ts';
import { openCommands } from '../../commands.ts';
import { startPostgres } from '../../postgres.ts';
import { finished } from '../arrivals.ts';
import { claimAt, sampleFacts } from '../samples.ts';

const { url, stop } = await startPostgres();
t.teardown(stop);
const command = openCommands(t);

let users = 0;

/** A database with a sold call in it, and users who did not make its tables. */
async function soldFrom(t: Test) {
  users += 1;
  const name = `shop_${users}`;
  const at = new URL(url);
  at.pathname = `/${name}`;
  const owner = new pg.Client({ connectionString: url });
  await owner.connect();
  await owner.query(`CREATE DATABASE ${name}`);
  await owner.end();
  const store = await openPostgresStore(at.href);
  await demandMode(store, 'sandbox', { dataDirectory: '', databaseUrl: at.href });
  await finished(store, 'sold');
  await store.close();
  const client = new pg.Client({ connectionString: at.href });
  await client.connect();
  t.teardown(() => client.end());
  return {
    database: at.href,
    execute: (sql: string) => client.query(sql),
    /** The same database as a user with these rights on all its tables. */
    async as(user: string, rights: string) {
      await client.query(
        `CREATE ROLE ${user} LOGIN PASSWORD 'secret'; GRANT ${rights} ON ALL TABLES IN SCHEMA public TO ${user}`,
      );
      const theirs = new URL(at);
      theirs.username = user;
      theirs.password = 'secret';
      return theirs.href;
    },
  };
}

t.test('a user who may only read runs the commands that only read', async (t) => {
  const { as } = await soldFrom(t);
  const environment = { DATABASE_URL: await as('accountant', 'SELECT') };
  const period = ['--from', '1970-01-01', '--to', '2100-01-01'];
  for (const words of [
    ['payments'],
    ['payments', '--margins'],
    ['export', ...period],
    ['alerts', '--list'],
    ['keys', 'list'],
    ['refund', '--list'],
  ]) {
    const [name = '', ...others] = words;
    t.match(await command(name, others, environment), { code: 0, err: '' }, words.join(' '));
  }
  t.match((await command('export', period, environment)).out.split('\n'), { length: 3 }, 'the sale is in the books');
  const { code, err } = await command('keys', ['create', '--label', 'more'], environment);
  t.match({ code, err }, { code: 1, err: /permission denied for table api_keys/ });
});

t.test('what reads a database that only a standby has reads it all the same', async (t) => {
  const { as, execute } = await soldFrom(t);
  const database = await as('standby_reader', 'SELECT');
  await execute('ALTER ROLE standby_reader SET default_transaction_read_only = on');
  t.match(await command('payments', [], { DATABASE_URL: database }), { code: 0, out: /sold|0xabc/, err: '' });
});

t.test(
  'a user who was granted nothing, as after a dump was restored by another, is told all that is to be granted',
  async (t) => {
    const { as, execute } = await soldFrom(t);
    const database = await as('newcomer', 'SELECT');
    await execute('REVOKE ALL ON ALL TABLES IN SCHEMA public FROM newcomer');
    const started = await openPostgresStore(database).catch((error: Error) => error.message);
    t.match(
      started,
      /Let the owner of its tables say: GRANT DELETE, INSERT, SELECT, UPDATE ON alert_conditions TO newcomer; /,
    );
    t.match(started, /; GRANT DELETE, INSERT, SELECT, UPDATE ON turnpike_schema TO newcomer$/);
    const { code, err } = await command('payments', [], { DATABASE_URL: database });
    t.match({ code, err }, { code: 1, err: /; GRANT SELECT ON turnpike_schema TO newcomer$/m });
    await execute(err.replace(/^.*tables say: /s, ''));
    t.match(await command('payments', [], { DATABASE_URL: database }), { code: 0, out: /0xabc/, err: '' });
  },
);

t.test('a gateway does not start where its user lacks a right, and says who has to grant which', async (t) => {
  const { as, execute } = await soldFrom(t);
  const database = await as('gateway_1', 'SELECT, INSERT, UPDATE, DELETE');
  await (await openPostgresStore(database)).close();
  await execute('REVOKE INSERT, DELETE ON payments FROM gateway_1; REVOKE UPDATE ON api_keys FROM gateway_1');
  const message = (grants: string) =>
    `The Postgres database cannot be used: its user may not do all that a gateway does there. Let the owner of its tables say: ${grants}`;
  await t.rejects(openPostgresStore(database), {
    name: 'StoreProblem',
    message: message('GRANT UPDATE ON api_keys TO gateway_1; GRANT DELETE, INSERT ON payments TO gateway_1'),
  });
  await execute('GRANT INSERT, DELETE ON payments TO gateway_1; GRANT UPDATE ON api_keys TO gateway_1');
  await execute('ALTER ROLE gateway_1 SET default_transaction_read_only = on');
  await t.rejects(openPostgresStore(database), {
    name: 'StoreProblem',
    message: /it takes no writes: it is a standby, or default_transaction_read_only is on/,
  });
});

t.test('a gateway that lost a right is not ready, refuses for a while, and the log has what to grant', async (t) => {
  const { as, execute } = await soldFrom(t);
  const store = await openPostgresStore(await as('gateway_2', 'SELECT, INSERT, UPDATE, DELETE'));
  t.teardown(() => store.close());
  const lines: object[] = [];
  const write = (details: object) => void lines.push(details);
  const log = { debug: write, info: write, warn: write, error: write };
  const readiness = watchStore(store, log, store.now);
  await execute('REVOKE INSERT ON payments FROM gateway_2; REVOKE SELECT ON kept FROM gateway_2');
  await t.rejects(store.claim(sampleFacts('refused'), claimAt(1)), { code: 'store_unavailable' });
  await readiness.check();
  t.equal(readiness.fault(), 'the database cannot be used');
  t.match(lines, [{ reason: /: GRANT SELECT ON kept TO gateway_2; GRANT INSERT ON payments TO gateway_2$/ }]);
  await execute('GRANT INSERT ON payments TO gateway_2; GRANT SELECT ON kept TO gateway_2');
  await readiness.check();
  t.equal(readiness.fault(), undefined);
  t.match(await store.claim(sampleFacts('taken'), claimAt(1)), { won: true });
});

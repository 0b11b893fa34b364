import pg from 'pg';
import t from 'tap';
import { openPostgresStore } from '../../src/store/postgres.ts';
import { startPostgres } from '../postgres.ts';
import { creditsContract } from './credits-contract.ts';

const { url, stop } = await startPostgres();
t.teardown(stop);
let databases = 0;

t.test('credits in Postgres', async (t) => {
  creditsContract(t, async () => {
    databases += 1;
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(`CREATE DATABASE credits_${databases}`);
    await client.end();
    const fresh = new URL(url);
    fresh.pathname = `/credits_${databases}`;
    return () => openPostgresStore(fresh.href);
  });
});

/** A database is of the mode that it was begun in: play money of the sandbox must never buy from a live gateway. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openApp } from '../../src/gateway/app.ts';
import { readConfig } from '../../src/gateway/config.ts';
import { openLive } from '../../src/live.ts';
import { createLog } from '../../src/log.ts';
import { catalogueOf } from '../few-endpoints.ts';
import { freePort } from '../free-port.ts';
import { startGateway } from '../gateway.ts';
import { loadSound } from '../load-catalogue.ts';
import { printed, startMain } from '../started.ts';

function dataDirectory(t: Test): string {
  const directory = mkdtempSync(join(tmpdir(), 'turnpike-modes-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

async function startLive(t: Test, directory: string) {
  const config = readConfig({
    TURNPIKE_MODE: 'live',
    HOST: '127.0.0.1',
    PORT: String(await freePort()),
    TURNPIKE_PUBLIC_URL: 'https://gateway.example',
    TURNPIKE_PAY_TO_EVM: `0x${'ab'.repeat(20)}`,
    TURNPIKE_FACILITATOR_URL: `http://127.0.0.1:${await freePort()}`,
    TURNPIKE_RPC_URL_CHAIN_C: `http://127.0.0.1:${await freePort()}`,
    TURNPIKE_MPP_SECRET: 'a secret of the test that is long enough',
    TURNPIKE_DATA: directory,
    TURNPIKE_CATALOGUE: process.env.TURNPIKE_CATALOGUE ?? 'catalogue',
    TURNPIKE_DRAIN_SECONDS: '1',
    OPENROUTER_API_KEY: 'a key',
    LOG_LEVEL: 'silent',
  });
  if (!config.live) throw new Error('the configuration is not live');
  const catalogue = loadSound(config.catalogueDirectory);
  const platform = await openLive(config.live, [...catalogue.networks.values()]);
  t.teardown(platform.stop);
  const app = await openApp(config, catalogue, platform, createLog('silent'));
  t.teardown(app.close);
  return app;
}

t.test('a live gateway does not open the database of a sandbox, whose credits cost nothing', async (t) => {
  const directory = dataDirectory(t);
  const sandbox = await startGateway({ networks: ['chain-c'], environment: { TURNPIKE_DATA: directory } });
  await sandbox.stop();
  const { apiKey } = sandbox.state as unknown as { apiKey: string };
  const credits = async () => {
    const { url } = await startLive(t, directory);
    return (await fetch(`${url}/v1/credits`, { headers: { authorization: `Bearer ${apiKey}` } })).json();
  };
  await t.rejects(credits(), {
    name: 'StoreProblem',
    message: `The database in ${directory} was begun in sandbox mode, and this gateway is in live mode: set TURNPIKE_MODE to sandbox, or TURNPIKE_DATA to a place of its own`,
  });
  const again = await startGateway({ networks: ['chain-c'], environment: { TURNPIKE_DATA: directory } });
  t.teardown(again.stop);
  t.equal((again.state as unknown as { apiKey: string }).apiKey, apiKey, 'and its sandbox goes on as before');
});

t.test('a sandbox does not open a live database: whoever asked it for its key would have credit there', async (t) => {
  const directory = dataDirectory(t);
  await (await startLive(t, directory)).close();
  const catalogue = catalogueOf(t, ['image/family-e-2']);
  const run = startMain({
    PORT: String(await freePort()),
    TURNPIKE_DATA: directory,
    TURNPIKE_CATALOGUE: catalogue,
    LOG_LEVEL: 'silent',
  });
  t.teardown(() => run.child.kill('SIGKILL'));
  const said = await printed(run, /^ready /m);
  t.match(said, /was begun in live mode.*: set TURNPIKE_MODE to live, or TURNPIKE_DATA/);
  t.equal(await run.ended, 1);
  await t.resolves(startLive(t, directory), 'and it is live as before');
});

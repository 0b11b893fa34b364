/** A setting under a name that nothing reads is not set, and whoever wrote it is told. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readConfig, unknownVariables } from '../../src/gateway/config.ts';
import { catalogueOf } from '../few-endpoints.ts';
import { freePort } from '../free-port.ts';
import { printed, startMain } from '../started.ts';

t.test('a name that nothing reads is told with the one that was probably meant, and the gateway starts', async (t) => {
  const catalogue = catalogueOf(t, ['image/family-e-2']);
  const run = startMain({
    PORT: String(await freePort()),
    TURNPIKE_CATALOGUE: catalogue,
    TURNPIKE_DATA: join(catalogue, '..', 'data'),
    TURNPIKE_WORKER: '4',
    TURNPIKE_SERVICE_HOST: '10.0.0.1',
    LOG_LEVEL: 'warn',
  });
  t.teardown(async () => {
    if (run.child.pid) process.kill(-run.child.pid, 'SIGINT');
    await run.ended;
  });
  await printed(run, /^ready /m);
  const told = await printed(run, /no setting of the gateway.*\n/);
  t.match(told, /TURNPIKE_WORKER is no setting of the gateway: did you mean TURNPIKE_WORKERS\?/);
  t.equal(told.split('no setting of the gateway').length, 2, 'once, and of nothing else');
});

t.test('the nearest of all settings is named, whatever the mode, and never a value', (t) => {
  const told = (name: string) =>
    unknownVariables({ [name]: 'a secret', HOST: '::', TURNPIKE: 'x', turnpike_mode: 'x' });
  t.same(told('TURNPIKE_PAYTO_EVM'), [
    'TURNPIKE_PAYTO_EVM is no setting of the gateway: did you mean TURNPIKE_PAY_TO_EVM?',
  ]);
  t.match(told('TURNPIKE_MPP_SECRETS'), [/did you mean TURNPIKE_MPP_SECRET\?$/]);
  t.match(told('TURNPIKE_S3_REGION'), [/: src\/README\.md lists them all$/]);
  t.notMatch(told('TURNPIKE_MPP_SECRETS').join(), 'a secret');
  t.end();
});

t.test('a name behind a byte order mark, as the first of a file from Windows, is not read, and that is told', (t) => {
  t.same(unknownVariables({ '\uFEFFTURNPIKE_MODE': 'live', PORT: '4020' }), [
    'TURNPIKE_MODE is not read, for a byte order mark is before it: save the file that sets it as UTF-8 without one',
  ]);
  t.end();
});

t.test('it stands beside what is missing, for that may be why', (t) => {
  const misspelt = { TURNPIKE_MODE: 'live', TURNPIKE_MPP_SECERT: 'x'.repeat(32) };
  const missing = /TURNPIKE_MPP_SECRET must be a secret[\s\S]*did you mean TURNPIKE_MPP_SECRET\?$/;
  t.throws(() => readConfig(misspelt), { message: missing });
  t.end();
});

t.test('every variable of the manual is known, and so is what Kubernetes sets for a service called turnpike', (t) => {
  const manual = readFileSync('src/README.md', 'utf8');
  const names = [...manual.matchAll(/^\| .*\|$/gm)].flatMap(
    ([row]) => row.match(/TURNPIKE_[A-Z0-9_]+[A-Z0-9]\b(?!<)/g) ?? [],
  );
  t.ok(names.length > 30);
  t.same(unknownVariables(Object.fromEntries(names.map((name) => [name, '1']))), []);
  const networks = ['TURNPIKE_PAY_TO_CHAIN_E', 'TURNPIKE_RPC_URL_CHAIN_E', 'TURNPIKE_COIN_USD_CHAIN_E'];
  const commands = ['TURNPIKE_OWNERSHIP_KEY', 'TURNPIKE_WALLET_EVM', 'TURNPIKE_WALLET_SOLANA'];
  t.same(unknownVariables(Object.fromEntries([...networks, ...commands].map((name) => [name, '1']))), []);
  const injected = {
    TURNPIKE_SERVICE_HOST: '10.0.0.1',
    TURNPIKE_SERVICE_PORT: '80',
    TURNPIKE_SERVICE_PORT_HTTP: '80',
    TURNPIKE_PORT: 'tcp://10.0.0.1:80',
    TURNPIKE_PORT_80_TCP: 'tcp://10.0.0.1:80',
    TURNPIKE_PORT_80_TCP_ADDR: '10.0.0.1',
    TURNPIKE_METRICS_SERVICE_PORT: '9464',
    TURNPIKE_METRICS_PORT_9464_TCP_PROTO: 'tcp',
  };
  t.same(unknownVariables(injected), []);
  t.end();
});

/** What a gateway does where the system does not let it watch a file of its catalogue. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { catalogueOf } from '../few-endpoints.ts';
import { freePort } from '../free-port.ts';
import { printed, startMain } from '../started.ts';

/** As where a file is another user's, or where others watch as much as the system lets anybody. */
const NOT_LET = `import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
const { watch } = fs;
fs.watch = (path, ...others) => {
  if (!path.endsWith('hidden.yaml')) return watch(path, ...others);
  throw Object.assign(new Error('EACCES: permission denied, watch hidden.yaml'), { code: 'EACCES' });
};
syncBuiltinESMExports();
`;

t.test('a gateway that may not watch a file says so, sells on, and loads it when it is told to', async (t) => {
  const catalogue = catalogueOf(t, ['image/family-a-2-pro']);
  const preload = join(catalogue, '..', 'preload.mjs');
  writeFileSync(preload, NOT_LET);
  const run = startMain({
    NODE_OPTIONS: `--import=${preload}`,
    TURNPIKE_MODE: 'live',
    TURNPIKE_PUBLIC_URL: 'https://gateway.example',
    TURNPIKE_PAY_TO_EVM: `0x${'ab'.repeat(20)}`,
    TURNPIKE_FACILITATOR_URL: 'http://127.0.0.1:9',
    TURNPIKE_MPP_SECRET: 'a secret of the test that is long enough',
    TURNPIKE_WATCH: '1',
    HOST: '127.0.0.1',
    PORT: String(await freePort()),
    TURNPIKE_CATALOGUE: catalogue,
    TURNPIKE_DATA: join(catalogue, '..', 'data'),
    LOG_LEVEL: 'warn',
  });
  t.teardown(() => void run.child.kill('SIGKILL'));
  await printed(run, /^ready /m);
  const sold = readFileSync(join(catalogue, 'endpoints/image/family-a-2-pro.yaml'), 'utf8');
  const hidden = join(catalogue, 'endpoints/image/hidden.yaml');
  writeFileSync(hidden, sold.replaceAll('/image/family-a-2-pro', '/image/hidden'));
  t.match(await printed(run, /can be watched/), /"reason":"EACCES: permission denied, watch hidden\.yaml"/);
  run.child.kill('SIGHUP');
  t.match(await printed(run, /^catalogue \w+ is sold now/m), /^catalogue \w+ is sold now/m);
  run.child.kill('SIGTERM');
  t.equal(await run.ended, 0);
});

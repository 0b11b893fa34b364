import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import t from 'tap';
import { copySelling } from '../../few-endpoints.ts';
import { freePort } from '../../free-port.ts';
import { manual } from '../../manual.ts';
import { wordsFor } from '../../words-for.ts';

/** The manual's example of an application that mounts the router, word for word. */
function example(): string {
  const [, code] = /```ts\n(\/\/ shop\.ts[\s\S]*?)```/.exec(manual) ?? [];
  if (!code) throw new Error('The manual has no example of an application');
  return code;
}

t.test('the manual’s application sells the catalogue beside routes of its own, and stops when told', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'turnpike-application-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  for (const name of ['src', 'node_modules', 'package.json', 'tsconfig.json']) {
    symlinkSync(resolve(name), join(directory, name));
  }
  copySelling(['image/family-e-2'], join(directory, 'catalogue'));
  writeFileSync(join(directory, 'shop.ts'), example());

  const port = String(await freePort());
  const shop = spawn(process.execPath, ['--import=tsx', 'shop.ts'], {
    cwd: directory,
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', PORT: port, LOG_LEVEL: 'error' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => shop.kill('SIGKILL'));
  const ended = once(shop, 'exit');
  const [ready] = await Promise.race([once(createInterface(shop.stdout), 'line'), ended]);
  const url = `http://127.0.0.1:${port}`;
  t.equal(ready, `ready ${url}`);

  t.equal(await (await fetch(`${url}/about`)).text(), 'We sell pictures.');
  const order = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"frame":"oak"}' };
  t.same(await (await fetch(`${url}/orders`, order)).json(), { ordered: { frame: 'oak' } });
  const words = ['/image/family-e-2', '{"prompt":"a lighthouse in fog","resolution":"2k"}', '--url', url];
  t.match(
    execFileSync(process.execPath, [...wordsFor('src/cli/pay.ts'), ...words], { encoding: 'utf8' }),
    /^receipt +transaction/m,
  );

  shop.kill('SIGTERM');
  t.same(await ended, [0, null]);
});

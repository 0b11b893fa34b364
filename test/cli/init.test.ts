import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { freePort } from '../free-port.ts';
import { groupOf, printed, start } from '../started.ts';

const root = mkdtempSync(join(tmpdir(), 'turnpike-init-'));
t.teardown(() => rmSync(root, { recursive: true, force: true }));
const shop = join(root, 'My Shop');

/** What `npm install` of the packed package would leave, with the packages that it needs taken from here. */
function install(): void {
  const packed =
    execFileSync('npm', ['pack', '--silent', '--pack-destination', root], { encoding: 'utf8' })
      .trim()
      .split('\n')
      .at(-1) ?? '';
  execFileSync('tar', ['xzf', packed], { cwd: root });
  const modules = join(shop, 'node_modules');
  mkdirSync(join(modules, '.bin'), { recursive: true });
  for (const name of readdirSync('node_modules')) {
    if (name !== '.bin' && name !== 'turnpike') symlinkSync(resolve('node_modules', name), join(modules, name));
  }
  cpSync(join(root, 'package'), join(modules, 'turnpike'), { recursive: true });
  const command = join(modules, 'turnpike/dist/src/cli/turnpike.js');
  chmodSync(command, 0o755);
  symlinkSync(command, join(modules, '.bin', 'turnpike'));
}

/** By its name a registry would give whatever somebody has registered there. */
const archive = `turnpike-${JSON.parse(readFileSync('package.json', 'utf8')).version}.tgz`;

const contentsOf = (archive: string): string => execFileSync('tar', ['tzf', archive], { encoding: 'utf8' });

t.test('the packed package makes a directory that passes its check, and sells', async (t) => {
  install();
  const turnpike = (...words: string[]) =>
    execFileSync(join(shop, 'node_modules/.bin/turnpike'), words, { cwd: shop, encoding: 'utf8' });
  const said = turnpike('init', '.', '--deploy');
  t.match(said, /^wrote package\.json$/m);
  t.match(turnpike('init', '.'), /^left {2}package\.json, which was there$/m, 'nothing is overwritten');
  t.throws(() => turnpike('init', '/proc/shop'), /mkdir '\/proc\/shop'/, 'what cannot be made is told at once');
  t.equal(turnpike('check'), '1 endpoint, 2 routes: no problems\n');

  const manifest = JSON.parse(readFileSync(join(shop, 'package.json'), 'utf8'));
  t.match(manifest, {
    name: 'my-shop',
    scripts: { start: 'turnpike start' },
    dependencies: { turnpike: `file:${archive}` },
  });
  const [, pack = ''] = /^next {2}(npm pack .*) && cd \. && npm install && npm start$/m.exec(said) ?? [];
  execFileSync('sh', ['-c', pack], { cwd: shop, stdio: 'ignore' });
  t.equal(contentsOf(join(shop, archive)), contentsOf(join(root, archive)), 'of itself, where nothing has it');

  const manual = readFileSync('src/console/README.md', 'utf8');
  for (const [, command = ''] of manual.matchAll(/^\| `npm run ([a-z-]+)` \|/gm)) {
    if (command !== 'init') t.equal(manifest.scripts[command], `turnpike ${command}`);
  }
  t.notOk(Object.values(manifest.devDependencies).some((version) => typeof version !== 'string'));

  const port = String(await freePort());
  const run = start({ PORT: port, LOG_LEVEL: 'error' }, ['start'], shop);
  t.teardown(async () => {
    if (groupOf(run.child.pid ?? 0).length > 0) process.kill(-(run.child.pid ?? 0), 'SIGINT');
    await run.ended;
  });
  const line = /^pay {3}npm run pay -- (\S+) '(.*)' --url (\S+)$/m.exec(await printed(run, /^pay .*$/m));
  const [, path = '', body = '', url = ''] = line ?? [];
  t.match(
    turnpike('pay', path, body, '--url', url),
    /^receipt {2}transaction \S+ on eip155:84532[\s\S]*"temperature": 20\.5/m,
  );
});

t.test('from the sources it installs what is packed of them, for no registry has it', (t) => {
  const directory = t.testdir({});
  const said = execFileSync('npm', ['run', '--silent', 'init', '--', directory], { encoding: 'utf8' });
  t.match(said, `next  npm pack --pack-destination ${directory} && cd ${directory} && npm install && npm start\n`);
  const { dependencies } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  t.same(dependencies, { turnpike: `file:${archive}` });
  t.end();
});

t.test('what it writes for deploying is right as far as it can be read here', (t) => {
  const unit = join(shop, 'turnpike.service');
  if (existsSync('/usr/bin/systemd-analyze')) {
    t.equal(
      execFileSync('systemd-analyze', ['verify', unit], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }),
      '',
    );
  } else {
    t.match(readFileSync(unit, 'utf8'), /^ExecStart=/m);
  }
  const { services } = parse(readFileSync(join(shop, 'compose.yaml'), 'utf8'));
  t.same(Object.keys(services), ['gateway', 'database', 'proxy', 'prometheus', 'grafana']);
  for (const volume of [...services.prometheus.volumes, ...services.grafana.volumes]) {
    const [source = ''] = volume.split(':');
    if (source.startsWith('./')) t.ok(existsSync(join(shop, source)), source);
  }
  t.equal(services.gateway.deploy.replicas, 3);
  const dockerfile = readFileSync(join(shop, 'Dockerfile'), 'utf8');
  const installed = join(root, 'installed');
  mkdirSync(installed);
  const copies = [...dockerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].map(([, sources]) => sources);
  // As Docker does, each by its name or pattern; npm install has made the lock.
  execFileSync('sh', ['-c', `touch package-lock.json && cp -R ${copies.join(' ')} '${installed}'`], { cwd: shop });
  t.strictSame(readdirSync(installed).sort(), ['catalogue', 'package-lock.json', 'package.json', archive]);
  t.match(dockerfile, /^USER node$/m);
  // What is mounted where the image has nothing is root's, and the gateway could store no file.
  for (const volume of services.gateway.volumes) {
    const [, target = ''] = volume.split(':');
    t.match(dockerfile, new RegExp(`^RUN install --directory --owner=node --group=node .*${target}$`, 'm'), target);
  }
  t.end();
});

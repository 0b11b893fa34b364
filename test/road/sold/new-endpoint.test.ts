import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { payV2, request } from '../../clients.ts';
import { copySelling } from '../../few-endpoints.ts';
import { startGateway } from '../../gateway.ts';

/** The README's worked example, word for word: what readers paste has to work. */
function worked(): { file: string; yaml: string } {
  const readme = readFileSync('README.md', 'utf8');
  const [, yaml] = /```yaml\n(# catalogue\/endpoints\/[\s\S]*?)```/.exec(readme) ?? [];
  const [, file] = /^# (catalogue\/endpoints\/\S+\.yaml)/.exec(yaml ?? '') ?? [];
  if (!yaml || !file) throw new Error('README.md has no worked example of an endpoint');
  return { file, yaml };
}

t.test('a new endpoint is one YAML file and `npm run codegen`: it is typed, sold and paid', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'turnpike-catalogue-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const { file, yaml } = worked();
  copySelling(['image/family-e-2'], join(directory, 'catalogue'));
  mkdirSync(join(directory, file, '..'), { recursive: true });
  writeFileSync(join(directory, file), yaml);

  const generated = join(directory, 'generated');
  execFileSync('npm', ['run', '--silent', 'codegen'], {
    env: { ...process.env, TURNPIKE_CATALOGUE: join(directory, 'catalogue'), TURNPIKE_GENERATED: generated },
  });
  const types = join(generated, file.replace(/^catalogue\//, '').replace(/yaml$/, 'ts'));
  t.ok(existsSync(types), types);
  t.match(readFileSync(types, 'utf8'), /export interface Request/);

  const gateway = await startGateway({ catalogue: join(directory, 'catalogue'), networks: ['chain-c'] });
  t.teardown(gateway.stop);
  const [, path] = /^path: (\S+)/m.exec(yaml) ?? [];
  const [, example] = /^example: (.*)$/m.exec(yaml) ?? [];
  const [, price] = /amount: "([0-9.]+)"/.exec(yaml) ?? [];
  const [, prompt] = /prompt: ([^}]+?) *}/.exec(example ?? '') ?? [];
  const earned = await gateway.earned('chain-c');
  const answer = await payV2(gateway, 'chain-c', request(gateway, path ?? '', { prompt }));
  t.equal(answer.status, 200, await answer.clone().text());
  t.equal((await gateway.earned('chain-c')) - earned, BigInt(Math.round(Number(price) * 1_000_000)));
});

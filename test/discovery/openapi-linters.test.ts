/** The linters that readers of OpenAPI use, over every document that is served. */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import spectralCore, { type RulesetDefinition } from '@stoplight/spectral-core';
import spectralRulesets from '@stoplight/spectral-rulesets';
import t from 'tap';
import { startGateway } from '../gateway.ts';
import { documentsOf } from './samples.ts';

interface Found {
  readonly problems: readonly {
    readonly ruleId: string;
    readonly message: string;
    readonly location: readonly { readonly source: { readonly ref: string }; readonly pointer?: string }[];
  }[];
}

const PATHS = ['/openapi.json', '/openapi/x402.json', '/openapi-all.json'];

/** What `redocly lint` finds by its recommended rules, warnings included, in files of a directory. */
async function redocly(directory: string, files: readonly string[]): Promise<string[]> {
  const linting = promisify(execFile)(
    process.execPath,
    [
      resolve('node_modules/.bin/redocly'),
      'lint',
      ...files,
      '--extends=recommended',
      '--format=json',
      '--max-problems=1000',
    ],
    {
      cwd: directory,
      env: { PATH: process.env.PATH ?? '', REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    },
  );
  // Errors among what it finds make it end with another code than 0.
  const { stdout } = await linting.catch((ended: { stdout: string }) => ended);
  // One after the other, an object for each file.
  const found: Found[] = JSON.parse(`[${stdout.replaceAll('\n}{', '\n},{')}]`);
  if (found.length !== files.length) throw new Error(`${found.length} of ${files.length} files were linted`);
  return found
    .flatMap(({ problems }) => problems)
    .map(({ ruleId, message, location: [at] }) => `${at?.source.ref} ${ruleId} ${at?.pointer}: ${message}`);
}

/** What Spectral finds by `spectral:oas`, hints included. */
async function spectral(text: string): Promise<string[]> {
  const linter = new spectralCore.Spectral();
  linter.setRuleset({ extends: [spectralRulesets.oas as RulesetDefinition] });
  const found = await linter.run(JSON.parse(text));
  return found.map(({ code, path, message }) => `${code} ${path.join('/')}: ${message}`);
}

const catalogue = mkdtempSync(join(tmpdir(), 'turnpike-catalogue-'));
t.teardown(() => rmSync(catalogue, { recursive: true, force: true }));
cpSync('catalogue', catalogue, { recursive: true });
const serviceFile = join(catalogue, 'service.yaml');
const everythingOn = 'openapi: { x402: true }\nrefunds: { endpoint: true }\n';
writeFileSync(serviceFile, `${readFileSync(serviceFile, 'utf8')}${everythingOn}`);

const gateway = await startGateway({ catalogue, networks: ['chain-a', 'chain-c', 'chain-d', 'chain-e'], tempo: true });
t.teardown(gateway.stop);
const served = PATHS.map(async (path) => [path, await (await fetch(gateway.url + path)).text()] as const);

const sample = documentsOf();
const services = {
  'a service of three endpoints': new Map(PATHS.map((path) => [path, String(sample.get(path)?.body)])),
  'a gateway with everything on': new Map(await Promise.all(served)),
};

for (const [name, texts] of Object.entries(services)) {
  t.test(`linters find nothing to say of ${name}`, async (t) => {
    const files = new Map([...texts].map(([path, text]) => [path.slice(1).replaceAll('/', '-'), text]));
    t.same(await redocly(t.testdir(Object.fromEntries(files)), [...files.keys()]), [], 'redocly');
    for (const [path, text] of texts) {
      t.match(text, '"openapi":"3.1.0"', `${path} is there`);
      t.same(await spectral(text), [], `spectral: ${path}`);
    }
  });
}

t.test('the linters are awake', async (t) => {
  const text = String(sample.get('/openapi-all.json')?.body).replaceAll('"summary":', '"x-summary":');
  const directory = t.testdir({ 'openapi.json': text, 'again.json': text });
  const found = await redocly(directory, ['openapi.json', 'again.json']);
  for (const file of ['openapi.json', 'again.json']) t.ok(found.some((problem) => problem.startsWith(file)));
  const unsaid = text.replaceAll('"operationId":', '"x-operationId":');
  t.ok((await spectral(unsaid)).length > 0);
});

import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Test } from 'tap';
import t from 'tap';
import { summary } from '../../src/catalogue-diff/groups.ts';
import { rightFiles, writeCatalogue } from '../catalogue/temporary-catalogue.ts';
import { openCommands } from '../commands.ts';

const OIL = 'endpoints/image/oil.yaml';
const oil = `summary: A picture in oil
path: /image/oil
networks: [chain-a, chain-e]
price: { rule: select, by: size, amounts: { small: "0.05", large: "0.1" } }
request:
  required: [prompt]
  properties:
    prompt: { $ref: prompt }
    size: { type: string, enum: [small, large], default: small }
result: { $ref: picture }
example: { prompt: fog }
upstream: { via: pictures, model: oil, result: image, input: { prompt: prompt, size: size } }
`;
/** A catalogue for the gateway's own code. */
const files = {
  'upstreams.yaml': `pictures:
  adapter: replicate-predictions
  baseUrl: https://painter.example/v1
  keys: { key: PAINTER_KEY }
  models: { oil: { id: maker/oil, kind: image } }
`,
  'schemas/picture.yaml': (rightFiles['schemas/picture.yaml'] as string)
    .replace('[url]', '[image_url]')
    .replaceAll('url: ', 'image_url: '),
  [OIL]: oil,
};

const run = openCommands(t);

const diff = (catalogue: string, ...words: string[]) => {
  // The fixtures lie in the repository of the project, which is not theirs.
  const GIT_CEILING_DIRECTORIES = resolve('.tap');
  return run('diff', words, { TMPDIR: tmpdir(), TURNPIKE_CATALOGUE: catalogue, GIT_CEILING_DIRECTORIES });
};

/** A git repository with this catalogue committed; `change` writes to it afterwards. */
function repository(t: Test, committed: Readonly<Record<string, string>> = files) {
  const directory = writeCatalogue(t, committed);
  const git = (...words: string[]) => execFileSync('git', ['-C', directory, ...words], { stdio: 'pipe' });
  const commit = () => {
    git('add', '.');
    git('-c', 'user.name=Test', '-c', 'user.email=test@shop.example', 'commit', '-q', '-m', 'A catalogue');
  };
  git('init', '-q');
  commit();
  const catalogue = join(directory, 'catalogue');
  const change = (path: string, text: string) => writeFileSync(join(catalogue, path), text);
  return { catalogue, change, commit };
}

const copies = () => readdirSync(tmpdir()).filter((name) => name.startsWith('turnpike-diff-'));

t.test('nothing changed is said, and is no failure', async (t) => {
  const { catalogue } = repository(t);
  t.same(await diff(catalogue, 'HEAD', '--fail-on', 'breaking', '--fail-on', 'price'), {
    code: 0,
    out: 'nothing changed for buyers\n',
    err: '',
  });
});

t.test('what a catalogue says is written as text, each change on a line', async (t) => {
  const { catalogue, change } = repository(t);
  const writes = String.raw`\e]0;owned\a\x9b2J\u202e`;
  const size = `enum: [small, large], default: small }`;
  const named = oil
    .replace(size, `${size}\n    "a${writes}\\n  harmless": { type: string }`)
    .replace('size: size', `size: size, other: "a${writes}\\n  harmless"`);
  change(OIL, named);
  for (const format of ['text', 'markdown']) {
    const { out } = await diff(catalogue, 'HEAD', '--format', format);
    t.match(out, /a\\u001b\]0;owned/);
    t.notMatch(out.replaceAll('\n', ''), /[\p{Cc}\p{Bidi_Control}]/u, format);
    t.notMatch(out, /^ +harmless:/m, format);
  }
});

t.test('what changed since a revision, in each format, and a failure where that is asked for', async (t) => {
  const { catalogue, change, commit } = repository(t);
  const raised = oil.replace('"0.1"', '"0.12"');
  change(OIL, raised);
  const before = copies();
  t.match(await diff(catalogue, 'HEAD', '--fail-on', 'breaking'), { code: 0 }, 'another price breaks nothing');
  commit();
  change(OIL, raised.replace('networks: [chain-a, chain-e]', 'networks: [chain-a]'));
  change('endpoints/image/ink.yaml', oil.replace('path: /image/oil', 'path: /image/ink'));

  const text = await diff(catalogue, 'HEAD~1', '--fail-on', 'price');
  t.equal(text.code, 1);
  t.equal(
    text.out,
    `POST /image/oil
  breaks    network dropped  chain-e  -
  price     size=large       0.1      0.12 (+20 %)
  price     highest          0.1      0.12 (+20 %)

POST /image/ink
  harmless  endpoint new     -        0.05-0.1

4 changes: 1 breaks callers, 2 are prices (USD), 1 harms nobody
`,
  );

  const markdown = await diff(catalogue, 'HEAD', '--format', 'markdown', '--fail-on', 'breaking');
  t.equal(markdown.code, 1);
  t.match(markdown.out, /^### For buyers, since HEAD\n/);
  t.match(markdown.out, '| **breaks** | `network dropped` | `chain-e` |  |');
  t.match(markdown.out, /<details><summary>harmless<\/summary>\n\n`POST \/image\/ink`/);

  const json = await diff(catalogue, 'HEAD', '--format', 'json', '--fail-on', 'price');
  t.equal(json.code, 0, 'no price changed since');
  const [added, dropped] = JSON.parse(json.out);
  t.equal(summary([dropped]), '1 change: 1 breaks callers');
  t.match(added, { where: 'POST /image/ink', effect: 'harmless' });
  t.same(dropped, {
    where: 'POST /image/oil',
    about: 'network',
    what: 'dropped',
    effect: 'breaks',
    before: 'chain-e',
  });
  t.same(copies(), before, 'no copy is left');
});

t.test('what cannot be compared ends with 2 and says why', async (t) => {
  const { catalogue, change } = repository(t, { ...files, [OIL]: oil.replace('rule: select', 'rule: selct') });
  t.match(await diff(catalogue, 'HEAD'), {
    code: 2,
    out: '',
    err: /^HEAD:.*catalogue\/endpoints\/image\/oil.yaml:4:16: no pricing rule selct; did you mean select[\s\S]*nothing was compared\n$/,
  });
  change(OIL, oil);
  t.match(await diff(catalogue, 'no-such'), { code: 2, out: '', err: /^git knows no revision no-such; / });
  t.match(await diff(catalogue, 'HEAD', '--fail-on', 'luck'), { code: 2, err: /^--fail-on is one of breaking, price/ });

  const elsewhere = join(catalogue, '..', 'other');
  cpSync(catalogue, elsewhere, { recursive: true });
  t.match(await diff(elsewhere, 'HEAD'), { code: 2, err: /^HEAD has no .*other/ });
  rmSync(join(catalogue, '..', '.git'), { recursive: true });
  t.match(await diff(catalogue, 'HEAD'), { code: 2, err: /catalogue is in no git repository \(fatal: / });
});

import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, rmdirSync, symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import t from 'tap';
import { checkCatalogue } from '../../src/catalogue/load.ts';
import { shipped } from '../../src/gateway/shipped.ts';
import { withoutRights } from '../without-rights.ts';
import { wordsFor } from '../words-for.ts';
import { writeCatalogue } from './temporary-catalogue.ts';

function check(directory: string): Promise<{ code: number; output: string }> {
  const env = { ...process.env, TURNPIKE_CATALOGUE: directory };
  return new Promise((resolve) => {
    execFile(process.execPath, [...wordsFor('src/cli/check.ts')], { env }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, output: stdout + stderr });
    });
  });
}

t.test('the command says in one line that nothing is wrong', async (t) => {
  const { code, output } = await check('catalogue');
  t.equal(code, 0, output);
  t.match(output, /^\d+ endpoints, \d+ routes: no problems\n$/);
});

t.test('the command tells the problems, how many there are, and how to check again', async (t) => {
  const directory = join(
    writeCatalogue(t, { 'service.yaml': 'name: Shop\ndescription: Sells\ntags: [A]\n' }),
    'catalogue',
  );
  const { code, output } = await check(directory);
  t.equal(code, 1);
  t.match(output, /service\.yaml:1:1: the key instructions is missing; add instructions\n/);
  t.match(output, /\n\d+ problems in .*: npm run check\n$/);
});

t.test('what a file says is written as text, each problem on a line', async (t) => {
  const files = { 'service.yaml': String.raw`"k\e]0;owned\a\x9b2J\u202e\nforged": 1` };
  const { code, output } = await check(join(writeCatalogue(t, files), 'catalogue'));
  t.equal(code, 1);
  t.match(output, /unknown key k\\u001b\]0;owned/);
  t.notMatch(output.replaceAll('\n', ''), /[\p{Cc}\p{Bidi_Control}]/u);
  t.notMatch(output, /^forged/m);
});

t.test('each file that cannot be read is told of, with the reason', async (t) => {
  const directory = join(writeCatalogue(t, {}), 'catalogue');
  mkdirSync(join(directory, 'endpoints', 'a-folder.yaml'), { recursive: true });
  symlinkSync('nowhere.yaml', join(directory, 'endpoints', 'a-link.yaml'));
  const { code, output } = await check(directory);
  t.equal(code, 1);
  t.match(output, /endpoints\/a-folder\.yaml:1:1: this file cannot be read \(EISDIR\); /);
  t.match(output, /endpoints\/a-link\.yaml:1:1: this file cannot be read \(ENOENT\); /);
  t.match(output, /\n2 problems in .*: npm run check\n$/);
});

t.test('so is a folder', async (t) => {
  const directory = join(writeCatalogue(t, {}), 'catalogue');
  const shut = join(directory, 'endpoints', 'shut');
  mkdirSync(shut, { mode: 0o000 });
  // From here: what is above a checkout, as the home of root, may be shut as well.
  const { diagnostics } = withoutRights(() => checkCatalogue(relative('.', directory), shipped));
  t.match(diagnostics, [{ file: relative('.', shut), message: 'this folder cannot be read (EACCES)' }]);
  rmdirSync(shut);
});

t.test('so is a catalogue below a folder that may not be entered', async (t) => {
  const above = writeCatalogue(t, {});
  const directory = relative('.', join(above, 'catalogue'));
  chmodSync(above, 0o000);
  const { diagnostics } = withoutRights(() => checkCatalogue(directory, shipped));
  chmodSync(above, 0o700);
  t.match(diagnostics, [{ file: directory, message: 'this folder cannot be read (EACCES)' }]);
});

import { readFileSync } from 'node:fs';
import t from 'tap';
import { problems } from '../src/errors.ts';
import { apiKeyProblems } from '../src/http/api-keys/problems.ts';

t.test('the README documents every error code with its status, and no other', (t) => {
  const rows = [...readFileSync('README.md', 'utf8').matchAll(/^\| `([a-z_]+)` \| (\d{3}) \|/gm)];
  const documented = Object.fromEntries(rows.map(([, code, status]) => [code, Number(status)]));
  const known = Object.entries({ ...problems, ...apiKeyProblems });
  t.same(documented, Object.fromEntries(known.map(([code, { status }]) => [code, status])));
  t.end();
});

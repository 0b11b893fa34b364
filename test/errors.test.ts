import t from 'tap';
import { problems } from '../src/errors.ts';
import { apiKeyProblems } from '../src/http/api-keys/problems.ts';
import { manual } from './manual.ts';

t.test('the manual documents every error code with its status, and no other', (t) => {
  const rows = [...manual.matchAll(/^\| `([a-z_]+)` \| (\d{3}) \|/gm)];
  const documented = Object.fromEntries(rows.map(([, code, status]) => [code, Number(status)]));
  const known = Object.entries({ ...problems, ...apiKeyProblems });
  t.same(documented, Object.fromEntries(known.map(([code, { status }]) => [code, status])));
  t.end();
});

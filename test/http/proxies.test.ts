/** What proxies in front are told to let pass. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { LARGEST_BODY_BYTES } from '../../src/catalogue/endpoints/body-limit.ts';
import { pages } from '../manual.ts';

const MEGABYTE = 1_000_000;
const CADDYFILE = 'src/cli/init/templates/deploy/Caddyfile';

t.test('no proxy refuses a body that the gateway takes, be it around the arguments of a tool', (t) => {
  const manual = pages.get('src/README.md') ?? '';
  const caddy = readFileSync(CADDYFILE, 'utf8');
  const told = {
    'the manual': /pass bodies of (\d+) MB/.exec(manual),
    nginx: /client_max_body_size (\d+)m;/.exec(manual),
    Caddy: /max_size (\d+)MB/.exec(caddy),
  };
  for (const [by, found] of Object.entries(told)) {
    const most = found?.[1];
    t.ok(Number(most) * MEGABYTE > LARGEST_BODY_BYTES + 65_536, `${by}: ${most} MB`);
  }
  t.end();
});

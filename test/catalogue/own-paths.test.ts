/** What a running gateway answers for itself is what no catalogue may sell. */
import t from 'tap';
import { isOwnPath } from '../../src/catalogue/endpoints/own-paths.ts';
import { startGateway } from '../gateway.ts';

/** With a key, and by POST. */
const ASKED_OTHERWISE = ['/v1/models', '/mcp'];

t.test('every document that the gateway serves is at a path of its own', async (t) => {
  const gateway = await startGateway({ networks: ['chain-c'] });
  t.teardown(() => gateway.stop());
  const llms = await (await fetch(`${gateway.url}/llms.txt`)).text();
  const named = [...llms.matchAll(new RegExp(`^- ${gateway.url}(/[^: ]+):`, 'gm'))].map(([, path]) => path ?? '');
  t.ok(named.length > 2, named.join(' '));
  for (const path of [
    ...named,
    '/llms.txt',
    '/robots.txt',
    '/icon.svg',
    '/favicon.ico',
    '/healthz',
    '/v1/models',
    '/sandbox',
  ]) {
    t.equal((await fetch(gateway.url + path)).ok || ASKED_OTHERWISE.includes(path), true, path);
    t.ok(isOwnPath(path), path);
  }
});

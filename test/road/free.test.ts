import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { request } from '../clients.ts';
import { copySelling } from '../few-endpoints.ts';
import { startGateway } from '../gateway.ts';

t.test('what costs nothing is answered without a payment, and only that', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'turnpike-free-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const catalogue = join(directory, 'catalogue');
  copySelling(['image/family-e-2'], catalogue);
  const file = join(catalogue, 'endpoints/image/family-e-2.yaml');
  const text = readFileSync(file, 'utf8');
  const given = `${text.replace(/(\{|\s)1k: "[0-9.]+"/, '$11k: "0"')}\nfree: true\n`;
  if (!given.includes('1k: "0"')) throw new Error('the endpoint has no price for 1k');
  writeFileSync(file, given);
  const gateway = await startGateway({ catalogue, networks: ['chain-c'] });
  t.teardown(gateway.stop);

  const free = request(gateway, '/image/family-e-2', { prompt: 'a lighthouse', resolution: '1k' });
  const answer = await fetch(free.url, free.init);
  t.equal(answer.status, 200);
  t.match(await answer.json(), { image_url: /^http/ });
  t.equal(answer.headers.get('payment-response'), null);
  t.match(await gateway.calls(), { upstreamCalls: 1, settlementCount: 0 });

  const sold = request(gateway, '/image/family-e-2', { prompt: 'a lighthouse', resolution: '2k' });
  t.equal((await fetch(sold.url, sold.init)).status, 402);
});

/** Several gateways over one database are one to whoever asks for too much. */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { request } from '../clients.ts';
import { startGateway } from '../gateway.ts';
import { startPostgres } from '../postgres.ts';
import { shopFiles } from './shop-catalogue.ts';

t.test('what a caller has taken at one gateway it has taken at the other, a moment later', async (t) => {
  const { url, stop } = await startPostgres();
  t.teardown(stop);
  const files = shopFiles('http://127.0.0.1:1', 'limits: { address: { unpaidPerMinute: 60 } }');
  // The time stands still: nothing fills up again meanwhile.
  const startedAt = Date.now();
  const now = () => startedAt;
  const gateway = await startGateway({
    now,
    catalogue: join(t.testdir({ catalogue: files }), 'catalogue'),
    networks: ['chain-c'],
    environment: { DATABASE_URL: url, TURNPIKE_TRUST_PROXY: '0', WEATHER_API_KEY: 'weather-key' },
  });
  t.teardown(gateway.stop);
  const other = await gateway.startAnother(now);
  const { url: path, init } = request(gateway, '/weather/report', { city: 'Lisbon' });
  const ask = async (at: string) => (await fetch(path.replace(gateway.url, at), init)).status;

  let taken = 0;
  while ((await ask(gateway.url)) === 402) taken += 1;
  t.equal(taken, 60);
  let overshoot = 0;
  while ((await ask(other)) === 402) {
    overshoot += 1;
    await delay(200);
  }
  t.ok(overshoot < 60, `${overshoot} more, of the 60 that it would have given by itself`);
  t.equal(await ask(gateway.url), 429);
});

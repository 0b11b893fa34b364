/** Several gateways over one database are one to whoever asks for too much. */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { request } from '../../clients.ts';
import { startGateway } from '../../gateway.ts';
import { startPostgres } from '../../postgres.ts';
import { shopFiles } from '../sold/shop-catalogue.ts';

const PER_MINUTE = 10;

t.test('what a caller has taken at one gateway it has taken at the other, a moment later', async (t) => {
  const { url, stop } = await startPostgres();
  t.teardown(stop);
  const files = shopFiles('http://127.0.0.1:1', `limits: { address: { unpaidPerMinute: ${PER_MINUTE} } }`);
  const gateway = await startGateway({
    catalogue: join(t.testdir({ catalogue: files }), 'catalogue'),
    networks: ['chain-c'],
    environment: { DATABASE_URL: url, TURNPIKE_TRUST_PROXY: '0', WEATHER_API_KEY: 'weather-key' },
  });
  t.teardown(gateway.stop);
  const other = await gateway.startAnother();
  const { url: path, init } = request(gateway, '/weather/report', { city: 'Lisbon' });
  const ask = async (at: string) => (await fetch(path.replace(gateway.url, at), init)).status;

  const startedAt = performance.now();
  let taken = 0;
  while ((await ask(gateway.url)) === 402) taken += 1;
  t.ok(taken >= PER_MINUTE);
  while ((await ask(other)) === 402) {
    taken += 1;
    await delay(1000);
  }
  while ((await ask(gateway.url)) === 402) taken += 1;
  const filledUp = (performance.now() - startedAt) / (60_000 / PER_MINUTE);
  const together = PER_MINUTE + filledUp;
  t.ok(
    taken < together + PER_MINUTE - 1,
    `${taken} where both have ${together} together, and another ${PER_MINUTE} apart`,
  );
});

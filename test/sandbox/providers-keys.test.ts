/** The keys of providers that a sandbox asks themselves. */
import t from 'tap';
import { startGateway } from '../gateway.ts';
import { weatherFiles } from '../road/sold/weather-catalogue.ts';

t.test('a key with quotes around it is none in a sandbox either, and the log says so once', async (t) => {
  const told: unknown[] = [];
  const warn = (details: object, message: string) => void told.push({ ...details, message });
  const gateway = await startGateway({
    catalogue: t.testdir(weatherFiles('http://127.0.0.1:9')),
    networks: [],
    environment: { WEATHER_API_KEY: '"weather-key"' },
    log: { debug() {}, info() {}, warn, error() {} },
  });
  t.teardown(gateway.stop);
  t.match(await (await fetch(`${gateway.url}/weather/forecast`, { method: 'POST' })).json(), {
    error: { code: 'unknown_path' },
  });
  t.match(
    told.filter((each) => JSON.stringify(each).includes('quotes')),
    [{ variable: 'WEATHER_API_KEY', message: /^a key is not used: quotes around its value would be part of it/ }],
  );
});

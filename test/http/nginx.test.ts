/** nginx before the gateway, with what the manual says that it needs. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { receiptOf, request, sendProof, signProof } from '../clients.ts';
import { missing } from '../debian.ts';
import { freePort } from '../free-port.ts';
import { startGateway } from '../gateway.ts';
import { pages } from '../manual.ts';
import { weatherFiles } from '../road/sold/weather-catalogue.ts';
import { KEY, startWeatherService } from '../road/sold/weather-service.ts';

const skip = missing('nginx');

/** The address of nginx, which has `settings` for the gateway at `url`. */
async function startNginx(t: Test, settings: string, url: string): Promise<string> {
  const folder = t.testdir();
  const file = join(folder, 'nginx.conf');
  const port = await freePort();
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  writeFileSync(
    file,
    `daemon off;
pid ${folder}/pid;
error_log stderr;
events {}
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
  server {
    listen 127.0.0.1:${port};
    ${settings.replaceAll('http://127.0.0.1:4020', url)}
  }
}
`,
  );
  const nginx = spawn('nginx', ['-p', folder, '-c', file], { stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = once(nginx, 'exit');
  t.teardown(async () => {
    nginx.kill('SIGTERM');
    await ended;
  });
  while (!(await accepts(port))) if (nginx.exitCode !== null) throw new Error('nginx did not start');
  return `http://127.0.0.1:${port}`;
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const isOpen = await Promise.race([once(socket, 'connect'), once(socket, 'close')]).then(
    (came) => came.length === 0,
    () => false,
  );
  socket.destroy();
  return isOpen;
}

const [, settings = ''] = /```nginx\n([\s\S]*?)```/.exec(pages.get('src/README.md') ?? '') ?? [];

t.test(
  'the price of everything that is sold comes through nginx, and what it sells is paid for there',
  { skip },
  async (t) => {
    const gateway = await startGateway({ networks: ['chain-a', 'chain-c'] });
    t.teardown(gateway.stop);
    const url = await startNginx(t, settings, gateway.url);
    const { resources } = (await (await fetch(`${url}/.well-known/x402`)).json()) as { resources: string[] };
    t.ok(resources.length > 50);
    const largest = { path: '', bytes: 0 };
    for (const resource of resources) {
      const { pathname } = new URL(resource);
      const { status, headers } = await fetch(url + pathname, { method: 'POST', body: '{}' });
      if (status !== 402 && status !== 405) t.fail(`${pathname}: ${status}`);
      const bytes = headers.get('payment-required')?.length ?? 0;
      if (bytes > largest.bytes) Object.assign(largest, { path: pathname, bytes });
    }
    t.ok(largest.bytes > 4096, 'as much as nginx takes by itself');

    const call = request({ ...gateway, url }, '/image/family-e-2', { prompt: 'a lighthouse', resolution: '1k' });
    const proof = await signProof({ ...gateway, url }, 'chain-c', call);
    t.equal(receiptOf(await sendProof(call, proof)).success, true);
  },
);

t.test('what streams comes through nginx as it comes', { skip }, async (t) => {
  const service = await startWeatherService(t);
  const catalogue = join(t.testdir({ catalogue: weatherFiles(service.url) }), 'catalogue');
  const gateway = await startGateway({ catalogue, networks: ['chain-c'], environment: { WEATHER_API_KEY: KEY } });
  t.teardown(gateway.stop);
  const url = await startNginx(t, settings, gateway.url);
  const call = request({ ...gateway, url }, '/weather/watch', { city: 'Lisbon' });
  const answer = await sendProof(call, await signProof({ ...gateway, url }, 'chain-c', call));
  t.equal(answer.status, 200);
  const reader = (answer.body as ReadableStream<BufferSource>).pipeThrough(new TextDecoderStream()).getReader();
  t.equal((await reader.read()).value, 'data: {"wind": 3}\n\n', 'before the provider is done');
  service.goOn();
  let rest = '';
  for (let part = await reader.read(); !part.done; part = await reader.read()) rest += part.value;
  t.match(rest, /\[DONE\]\n\n$/);
});

// It chooses no free port by itself and does not tell when it listens.
import { createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';

const free = createServer();
await new Promise((resolve) => free.listen(0, '127.0.0.1', resolve));
const { port } = free.address();
await new Promise((resolve) => free.close(resolve));

process.argv.push('--headless', `--port=${port}`);
await import('@portkey-ai/gateway/build/start-server.js');

const url = `http://127.0.0.1:${port}`;
const isListening = () =>
  fetch(url).then(
    () => true,
    () => false,
  );
while (!(await isListening())) await setTimeout(50);
process.stdout.write(`\nready ${url}\n`);

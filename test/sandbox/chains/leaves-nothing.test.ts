import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { request } from 'undici';

/** Starts chains in a process of its own and prints where they are; then ends as it is told. */
const SCRIPT = `
import { startChains } from ${JSON.stringify(new URL('../../../src/sandbox/chains/index.ts', import.meta.url).href)};
import { baseSepolia, stable } from ${JSON.stringify(new URL('../../payment/facilitators/networks.ts', import.meta.url).href)};
const chains = await startChains({ networks: [baseSepolia, stable], tempo: true });
console.log(JSON.stringify([...Object.values(chains.evm), chains.tempo].map(({ rpcUrl }) => rpcUrl)));
const end = process.argv.at(-1);
if (end === 'crash') throw new Error('crash');
if (end === 'exit') process.exit(0);
if (end === 'stop') await chains.stop();
if (end === 'wait') setInterval(() => undefined, 1000);
`;

async function startElsewhere(end: string): Promise<{ child: ChildProcess; urls: string[] }> {
  const child = spawn(process.execPath, ['--import=tsx', '--input-type=module', '-e', SCRIPT, end], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let printed = '';
  child.stdout?.on('data', (chunk) => {
    printed += chunk;
  });
  while (!printed.includes('\n')) await once(child.stdout ?? child, 'data');
  return { child, urls: JSON.parse(printed) };
}

const answers = (url: string): Promise<boolean> =>
  request(url, { method: 'POST', body: '{}' }).then(
    async ({ body }) => {
      await body.dump();
      return true;
    },
    () => false,
  );

async function untilSilent(urls: string[]): Promise<void> {
  while ((await Promise.all(urls.map(answers))).includes(true)) await pause(20);
}

for (const end of ['stop', 'exit', 'crash'] as const) {
  t.test(`no chain outlives its process: ${end}`, async (t) => {
    const { child, urls } = await startElsewhere(end);
    if (child.exitCode === null) await once(child, 'exit');
    t.equal(child.exitCode, end === 'crash' ? 1 : 0, 'and nothing keeps the process from ending');
    await untilSilent(urls);
    t.equal(urls.length, 3);
  });
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGKILL'] as const) {
  t.test(`no chain outlives its process: ${signal}`, async (t) => {
    const { child, urls } = await startElsewhere('wait');
    t.same(await Promise.all(urls.map(answers)), [true, true, true]);
    child.kill(signal);
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    await untilSilent(urls);
    t.equal(child.signalCode, signal);
  });
}

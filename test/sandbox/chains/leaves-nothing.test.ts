import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { request } from 'undici';
import { wordsFor } from '../../words-for.ts';

async function startElsewhere(end: string): Promise<{ child: ChildProcess; urls: string[] }> {
  const child = spawn(process.execPath, [...wordsFor('test/sandbox/chains/short-lived.ts'), end], {
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

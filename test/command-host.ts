/** Runs the commands that it is told, one after the other. */
import { pathToFileURL } from 'node:url';
import type { Order } from './commands.ts';

let orders = 0;

process.on('message', async ({ file, words, environment, end }: Order) => {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, environment);
  process.argv = [process.execPath, file, ...words];
  process.exitCode = 0;
  orders += 1;
  // Under another address it runs again; what it imports is there already.
  await import(`${pathToFileURL(file).href}?order=${orders}`);
  const code = process.exitCode;
  process.exitCode = 0;
  for (const stream of [process.stdout, process.stderr]) stream.write(end);
  process.send?.(code);
});

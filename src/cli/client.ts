/** `npm run client`: a typed client of a gateway, from its documents or from its catalogue. */
import './broken-pipe.ts';
import { writeFileSync } from 'node:fs';
import { readArguments } from './client/arguments.ts';
import { readSold } from './client/read.ts';
import { run } from './command.ts';
import { UsageProblem } from './command-line.ts';

/** The writer's own package is a development package. */
async function loadWriter(): Promise<typeof import('./client/write.ts')> {
  try {
    return await import('./client/write.ts');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new UsageProblem('json-schema-to-typescript is not installed: npm install -D json-schema-to-typescript@16');
  }
}

await run(async () => {
  const given = readArguments(process.argv.slice(2), process.env);
  const sold = await readSold(given, (line) => void process.stderr.write(`${line}\n`));
  const { writeClient } = await loadWriter();
  const text = await writeClient(sold);
  if (given.out === undefined) {
    process.stdout.write(text);
    return;
  }
  try {
    writeFileSync(given.out, text);
  } catch (error) {
    throw new UsageProblem(`--out ${given.out} cannot be written: ${(error as Error).message}`);
  }
  process.stderr.write(`${given.out}: ${sold.paths.length} paths of ${sold.url}\n`);
});

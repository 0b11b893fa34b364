/** `npm run backup`: what has to be kept, in a directory of its own, while the gateway runs. */
import './broken-pipe.ts';
import { existsSync } from 'node:fs';
import { copyFile, open, opendir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'libsql';
import { readKeptConfig } from '../gateway/config.ts';
import { makeDirectory } from '../made-directory.ts';
import { makePrivateFile } from '../store/engines/private-file.ts';
import { run } from './command.ts';
import { readOperands, UsageProblem } from './command-line.ts';
import { isThere } from './kept-store.ts';

const USAGE = `npm run backup -- <directory>

  the database as it is at one moment, and the files that answers point at; to restore, start the gateway with TURNPIKE_DATA
  set to a copy of that directory`;

const PATIENCE_MS = 30_000;

/** The gateway stores and takes away files meanwhile: what has no name yet, or is gone, is no part of the copy. */
async function copyMedia(from: string, to: string): Promise<void> {
  makeDirectory(to);
  for await (const entry of await opendir(from)) {
    if (entry.isDirectory() || entry.name.endsWith('.part')) continue;
    await copyFile(join(from, entry.name), join(to, entry.name)).catch((error) => {
      if (error.code !== 'ENOENT') throw error;
    });
  }
}

/** SQLite leaves to the system when a copy reaches the disk. */
async function flush(file: string): Promise<void> {
  const handle = await open(file, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

await run(async () => {
  const { positionals } = readOperands(USAGE, {}, process.argv.slice(2));
  const [directory, ...others] = positionals;
  if (directory === undefined || others.length > 0) throw new UsageProblem(USAGE);
  const { dataDirectory, databaseUrl, mediaBucket } = readKeptConfig(process.env);
  if (databaseUrl) {
    throw new UsageProblem(
      'DATABASE_URL names a Postgres database: back it up with pg_dump, and copy the media folder of the data directory beside it',
    );
  }
  const database = join(dataDirectory, 'turnpike.sqlite');
  if (!isThere(database)) throw new UsageProblem(`there is no database at ${database}: set TURNPIKE_DATA`);
  const copy = join(directory, 'turnpike.sqlite');
  if (existsSync(copy)) throw new UsageProblem(`${copy} is there already: name a directory without a backup`);
  makeDirectory(directory);
  // The database first: every file that its answers point at was stored before them. It has its name when all is there.
  const unfinished = `${copy}.part`;
  await rm(unfinished, { force: true });
  makePrivateFile(unfinished);
  const source = new Database(database, { readonly: true });
  try {
    // A gateway that starts or ends has it for itself for a moment.
    source.exec(`PRAGMA busy_timeout = ${PATIENCE_MS}`);
    source.exec(`VACUUM INTO '${unfinished.replaceAll("'", "''")}'`);
  } finally {
    source.close();
  }
  const media = join(dataDirectory, 'media');
  if (!mediaBucket && existsSync(media)) await copyMedia(media, join(directory, 'media'));
  await flush(unfinished);
  await rename(unfinished, copy);
  process.stdout.write(`${directory} has the database${mediaBucket ? '' : ' and the files'} of ${dataDirectory}\n`);
});

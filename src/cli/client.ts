/** `npm run client`: a typed client of a gateway, from its documents or from its catalogue. */
import './broken-pipe.ts';
import { writeFileSync } from 'node:fs';
import { loadNetworks } from '../catalogue/load.ts';
import { readCatalogue } from './client/from-catalogue.ts';
import { readDocuments } from './client/from-documents.ts';
import type { Sold } from './client/sold.ts';
import { run } from './command.ts';
import { readCommandLine, UsageProblem } from './command-line.ts';
import { shippedCatalogue } from './shipped-catalogue.ts';

const USAGE = `npm run client -- [options]

  writes the types of what a gateway sells, for createClient of turnpike/client

  --url <origin>      the gateway whose documents are read
  --catalogue <dir>   reads a catalogue's files in place of a gateway's documents (default, without --url:
                      TURNPIKE_CATALOGUE, or catalogue); --url then says where it is sold
                      (default: http://127.0.0.1:4020)
  --out <file>        where it is written (default: standard output)
  --only <paths>      what these begin with alone, such as image,/llm/multi-model`;

interface Arguments {
  /** Undefined: the documents of the gateway. */
  readonly catalogue: string | undefined;
  readonly url: string;
  readonly out: string | undefined;
  /** What paths begin with; empty: all of them. */
  readonly only: readonly string[];
}

/** Throws UsageProblem. */
function readArguments(words: readonly string[], environment: NodeJS.ProcessEnv): Arguments {
  const text = { type: 'string' } as const;
  const { values } = readCommandLine(USAGE, { url: text, catalogue: text, out: text, only: text }, words);
  const url = values.url ?? `http://127.0.0.1:${environment.PORT ?? '4020'}`;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new UsageProblem(`--url is an origin such as https://shop.example: got ${url}`);
  const usual = values.url === undefined ? (environment.TURNPIKE_CATALOGUE ?? 'catalogue') : undefined;
  const only = (values.only ?? '').split(',').filter((each) => each.trim() !== '');
  return {
    catalogue: values.catalogue ?? usual,
    url: new URL(url).origin,
    out: values.out,
    only: only.map((each) => `/${each.trim().replace(/^\//, '')}`),
  };
}

/** Throws UsageProblem where nothing begins with one of them. */
function filtered({ paths, ...others }: Sold, only: readonly string[]): Sold {
  if (only.length === 0) return { paths, ...others };
  const isBelow = (path: string, beginning: string) =>
    path === beginning || path.startsWith(beginning.endsWith('/') ? beginning : `${beginning}/`);
  const absent = only.filter((beginning) => !paths.some(({ path }) => isBelow(path, beginning)));
  if (absent.length > 0) {
    const groups = [...new Set(paths.map(({ path }) => path.split('/')[1]))].sort();
    throw new UsageProblem(`--only: nothing is sold below ${absent.join(', ')}; paths begin with ${groups.join(', ')}`);
  }
  return { ...others, paths: paths.filter(({ path }) => only.some((beginning) => isBelow(path, beginning))) };
}

async function read({ catalogue, url }: Arguments): Promise<Sold> {
  if (catalogue !== undefined) return readCatalogue(catalogue, url);
  const { unknown, ...sold } = await readDocuments(url, loadNetworks(shippedCatalogue()));
  for (const address of unknown) {
    const shown = address.replace(/[^\x20-\x7e]/g, '?').slice(0, 80);
    process.stderr.write(`${shown} is no asset that this package knows: the client does not pay in it\n`);
  }
  return sold;
}

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
  const sold = filtered(await read(given), given.only);
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

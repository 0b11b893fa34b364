/** What a typed client is written of. */
import { loadNetworks } from '../../catalogue/load.ts';
import { UsageProblem } from '../command-line.ts';
import { shippedCatalogue } from '../shipped-catalogue.ts';
import type { ClientArguments } from './arguments.ts';
import { readCatalogue } from './from-catalogue.ts';
import { readDocuments } from './from-documents.ts';
import type { Sold } from './sold.ts';

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

async function readAll({ catalogue, url }: ClientArguments, tell: (line: string) => void): Promise<Sold> {
  if (catalogue !== undefined) return readCatalogue(catalogue, url);
  const { unknown, ...sold } = await readDocuments(url, loadNetworks(shippedCatalogue()));
  for (const address of unknown) {
    const shown = address.replace(/[^\x20-\x7e]/g, '?').slice(0, 80);
    tell(`${shown} is no asset that this package knows: the client does not pay in it`);
  }
  return sold;
}

/** What is asked for of what is sold. `tell`: what the client will not pay in. Throws UsageProblem and CatalogueErrors. */
export const readSold = async (given: ClientArguments, tell: (line: string) => void): Promise<Sold> =>
  filtered(await readAll(given, tell), given.only);

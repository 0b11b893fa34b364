/** Loads the catalogue anew while the gateway sells: when asked, when a file is saved, and when another instance has. */
import { join } from 'node:path';
import { alertProblems } from '../alerts/secret.ts';
import { checkedCatalogueIn } from '../catalogue/checked.ts';
import { loadCatalogue } from '../catalogue/load.ts';
import type { Catalogue } from '../catalogue/types.ts';
import { versionOf } from '../catalogue/version.ts';
import { CatalogueErrors, orErrors } from '../catalogue/yaml/diagnostic.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { reasonOf } from '../store/problem.ts';
import type { Store } from '../store/store.ts';
import { inTurn } from '../timing.ts';
import type { Config } from './config.ts';
import { type Editions, ReloadRefused } from './editions.ts';
import { shipped } from './shipped.ts';

type Directories = Pick<Config, 'catalogueDirectory' | 'dataDirectory'>;

const CHECKED = 'checked-catalogue.json';

/** The catalogue of the configuration. Throws CatalogueErrors. */
export function load({ catalogueDirectory, dataDirectory }: Directories): Catalogue {
  // `npm run build` leaves what it found sound beside what it makes.
  const checked = checkedCatalogueIn(join(dataDirectory, CHECKED), join(import.meta.dirname, CHECKED));
  const catalogue = loadCatalogue(catalogueDirectory, shipped, checked);
  checked.save();
  return catalogue;
}

/** Whether it is the catalogue that keeps another from being sold. */
export const isRefusal = (error: unknown): error is CatalogueErrors | ReloadRefused =>
  error instanceof CatalogueErrors || error instanceof ReloadRefused;

export interface Reloading {
  /** See `Gateway.reload`. */
  reload(): Promise<Catalogue | undefined>;
  /** Sells what another instance has loaded. */
  follow(): Promise<void>;
  /** What the files say where that is not sold, loaded once for the same files. Throws CatalogueErrors, each time. */
  pending(): Catalogue | undefined;
}

interface ReloadingParts {
  readonly config: Directories & Pick<Config, 'alerts'>;
  readonly editions: Pick<Editions, 'current' | 'replace'>;
  readonly store: Pick<Store, 'cached' | 'keep'>;
  readonly metrics: Pick<Metrics, 'reloaded'>;
  readonly log: Pick<Log, 'warn'>;
  now(): number;
}

export function openReloading({ config, editions, store, metrics, log, now }: ReloadingParts): Reloading {
  const sold = () => editions.current().catalogue.version;
  const { announce, announced } = openAnnouncements(store, now);
  /** `told`: the version that another instance has told of. To tell of it again might come after it told of the next. */
  const loadAgain = inTurn(async (told?: string) => {
    try {
      const next = load(config);
      const isNew = next.version !== sold();
      const problems = alertProblems(next.service.alerts, config.alerts);
      if (problems.length > 0) throw new ReloadRefused(problems.join('; '));
      if (isNew) await editions.replace(next);
      metrics.reloaded(isNew ? 'loaded' : 'unchanged');
      if (!isNew) return undefined;
      if (next.version !== told) await announce(next);
      return next;
    } catch (error) {
      if (isRefusal(error)) metrics.reloaded('refused');
      throw error;
    }
  });
  return {
    reload: () => loadAgain(),
    follow: followOthers({ directory: config.catalogueDirectory, log, announced, sold }, loadAgain),
    pending: openPending(config, sold),
  };
}

function openPending(directories: Directories, sold: () => string): Reloading['pending'] {
  let last: { readonly version: string; readonly outcome: Catalogue | CatalogueErrors } | undefined;
  return () => {
    const version = versionOf(directories.catalogueDirectory);
    if (version === sold()) return undefined;
    if (last?.version !== version) last = { version, outcome: orErrors(() => load(directories)) };
    if (last.outcome instanceof CatalogueErrors) throw last.outcome;
    return last.outcome;
  };
}

/**
 * Loads again, and says in lines for people what came of it. Answers why the catalogue was refused; never throws for what is
 * wrong with it.
 */
export async function reloadAloud(
  reload: () => Promise<Catalogue | undefined>,
  say: (line: string) => void,
): Promise<string | undefined> {
  try {
    const catalogue = await reload();
    if (catalogue) say(`catalogue ${catalogue.version} is sold now: ${catalogue.endpoints.length} endpoints`);
    return undefined;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    say(`${error.message}\nwhat was sold before is sold on`);
    return error.message;
  }
}

/** Editors write a file in several steps, and a change is often of several files. */
const SAVED_MS = 150;

/**
 * Calls back after files of the directory were saved, from when it resolves. Where the system does not let all of them be
 * watched, the log says so, once.
 */
export async function watchFiles(
  directory: string,
  onSaved: () => void,
  log: Pick<Log, 'warn'>,
): Promise<{ close(): Promise<void> }> {
  const { watch } = await import('chokidar');
  let soon: NodeJS.Timeout | undefined;
  let isTold = false;
  const watcher = watch(directory, { ignoreInitial: true })
    .on('all', () => {
      clearTimeout(soon);
      soon = setTimeout(onSaved, SAVED_MS);
    })
    .on('error', (error) => {
      if (!isTold)
        log.warn(
          { reason: reasonOf(error) },
          'not all of the catalogue can be watched: what is saved there is sold after npm run reload',
        );
      isTold = true;
    });
  // Not `once`, which a file that may not be watched would make fail.
  await new Promise<void>((resolve) => watcher.once('ready', resolve));
  return {
    async close() {
      clearTimeout(soon);
      await watcher.close();
    },
  };
}

const SOLD = 'catalogue:sold';

/** What instances on one store tell each other: which catalogue was loaded last. */
function openAnnouncements(store: Pick<Store, 'cached' | 'keep'>, now: () => number) {
  return {
    announce: ({ version }: Catalogue) => store.keep(SOLD, version, now()),
    /** The version that an instance has loaded last; undefined where none has within a day. */
    announced: async () => (await store.cached(SOLD, 0))?.value,
  };
}

/** Follows the instance that loaded last, where this one's files are the same by now; tells of it where they are not. */
export function followOthers(
  parts: {
    readonly directory: string;
    readonly log: Pick<Log, 'warn'>;
    announced(): Promise<string | undefined>;
    sold(): string;
  },
  reload: (wanted: string) => Promise<unknown>,
): () => Promise<void> {
  let told: string | undefined;
  let refused: string | undefined;
  return async () => {
    const wanted = await parts.announced();
    if (wanted === undefined || wanted === parts.sold() || wanted === refused) return;
    const own = versionOf(parts.directory);
    if (own === wanted) {
      try {
        await reload(wanted);
      } catch (error) {
        if (!isRefusal(error)) throw error;
        // The same files are refused for as long as this process runs, and to check them takes its time.
        refused = wanted;
        parts.log.warn({ theirs: wanted }, `another instance sells a catalogue that is refused here: ${error.message}`);
      }
    } else if (told !== wanted) {
      told = wanted;
      parts.log.warn({ theirs: wanted, files: own }, 'another instance sells another catalogue than the files here');
    }
  };
}

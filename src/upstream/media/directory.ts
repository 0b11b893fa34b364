import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { open, rename, rm, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { makeDirectory } from '../../made-directory.ts';
import type { Downloader } from '../http/download.ts';
import { type MediaStore, openMediaStore } from './store.ts';
import { typeOfExtension } from './type.ts';

/** Keeps files in a directory, which is created when missing. A file is whole as soon as it has its name, also after a crash. */
export function openDirectoryMediaStore(options: {
  directory: string;
  publicUrl: string;
  downloads: Downloader;
}): MediaStore {
  const { directory, publicUrl, downloads } = options;
  makeDirectory(directory);
  return openMediaStore({
    publicUrl,
    downloads,
    shelf: {
      async write(name, bytes) {
        const target = path.join(directory, name);
        if (await renewed(target)) return;
        const draft = path.join(directory, `.${randomUUID()}.part`);
        try {
          await writeFile(draft, bytes, { flush: true });
          await rename(draft, target);
          await flushNames(directory);
        } catch (error) {
          await rm(draft, { force: true });
          throw error;
        }
      },
    },
  });
}

/** A name as well outlives the machine's end, before an answer that points at it is written down. Not every system can do that. */
async function flushNames(directory: string): Promise<void> {
  const handle = await open(directory, 'r').catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}

/** Whether the file is there: then it is kept as long as one that is new. */
async function renewed(file: string): Promise<boolean> {
  const now = new Date();
  return await utimes(file, now, now).then(
    () => true,
    () => false,
  );
}

export interface ServedMedia {
  path: string;
  type: string;
  size: number;
}

const NAME = /^[0-9a-f]{32}\.([a-z0-9]{3,4})$/;

/** Finds a stored file by its name. Only names that the store gives are found: no path leads out of the directory. */
export function serveMedia(directory: string): (name: string) => ServedMedia | undefined {
  return (name) => {
    const type = typeOfExtension(NAME.exec(name)?.[1] ?? '');
    if (type === undefined) return undefined;
    const file = path.join(directory, name);
    const found = statSync(file, { throwIfNoEntry: false });
    return found?.isFile() ? { path: file, type, size: found.size } : undefined;
  };
}

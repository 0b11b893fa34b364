/** Files that are kept no longer. */
import { opendir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** What a write that was cut off has left behind is nobody's after that. */
const DRAFTS_KEPT_MS = 86_400_000;

/**
 * Removes what was last stored before `before` (milliseconds since the epoch), one file after the other. A file that is made
 * again counts from then. Answers how many there were.
 */
export async function pruneMedia(directory: string, before: number | undefined, now: number): Promise<number> {
  let removed = 0;
  for await (const { name } of await opendir(directory)) {
    const oldest = name.endsWith('.part') ? now - DRAFTS_KEPT_MS : before;
    if (oldest === undefined) continue;
    const file = join(directory, name);
    // Another instance prunes, too.
    const found = await stat(file).catch(() => undefined);
    if (!found?.isFile() || found.mtimeMs >= oldest) continue;
    await rm(file, { force: true });
    removed += 1;
  }
  return removed;
}

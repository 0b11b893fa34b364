/** What is not needed any more is let go, a little at a time. */
import { keepOf } from '../catalogue/settings/keep.ts';
import type { ServiceFile } from '../catalogue/types.ts';
import { HOURS_KEPT_MS } from '../console/spans.ts';
import { KEY_KEPT_MS } from '../payment/idempotency.ts';
import type { PaymentState } from '../store/payments/states.ts';
import type { Store } from '../store/store.ts';
import { clearFolders } from '../upstream/media/ffmpeg.ts';
import { pruneMedia } from '../upstream/media/prune.ts';
import type { Config } from './config.ts';
import { mediaIn } from './disk.ts';

/** What webhooks were told, or could not be told, is kept to be looked at. */
const ALERTS_KEPT_MS = 30 * 86_400_000;

/** One round, by `keep` of the service as it is now. Files in a bucket are left to the bucket's own rules. */
export async function letGo(
  { keep }: Pick<ServiceFile, 'keep'>,
  { dataDirectory, mediaBucket }: Pick<Config, 'dataDirectory' | 'mediaBucket'>,
  store: Pick<Store, 'forget' | 'list' | 'oldestLate' | 'now'> & { readonly figures: Pick<Store['figures'], 'forget'> },
): Promise<void> {
  const now = store.now();
  const { answersMs, paymentsMs, mediaMs } = keepOf(keep);
  await store.forget({
    values: now - KEY_KEPT_MS,
    answers: now - answersMs,
    payments: paymentsMs === undefined ? undefined : now - paymentsMs,
    alerts: now - ALERTS_KEPT_MS,
  });
  await store.figures.forget({ visits: now - answersMs, hours: now - HOURS_KEPT_MS });
  await clearFolders();
  if (mediaBucket) return;
  const before = mediaMs === undefined ? undefined : Math.min(now - mediaMs - LATE_MS, await oldestNeeded(store));
  await pruneMedia(mediaIn(dataDirectory), before, now);
}

/** More wait for their end at no time that anything is pruned: then nothing is. */
const MOST_OPEN = 10_000;

/** An answer counts from its settlement, and its files from the work: those that were so much apart are looked for. */
const LATE_MS = 3_600_000;

/**
 * When the first was made of those that may have an answer with older files: whose end nobody knows, however often they were
 * asked about, or that ended late.
 */
async function oldestNeeded(store: Pick<Store, 'list' | 'oldestLate'>): Promise<number> {
  // Each by its own: no index has both.
  const oldest = async (state: PaymentState): Promise<number> => {
    const open = await store.list({ states: [state], withoutAnswers: true, limit: MOST_OPEN });
    return open.length === MOST_OPEN ? 0 : (open.at(-1)?.createdAt ?? Number.POSITIVE_INFINITY);
  };
  const open = Math.min(await oldest('fulfilled'), await oldest('unknown'));
  // Asked last: what ends meanwhile is found here.
  return Math.min(open, (await store.oldestLate()) ?? Number.POSITIVE_INFINITY);
}

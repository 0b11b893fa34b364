/** A short campaign as a test. */
import t from 'tap';
import { campaign } from './campaign.ts';
import type { StoreName } from './database.ts';
import { figuresOf, violationsOf } from './report.ts';

/** As many kills as a quiet machine has time for; a busy one has fewer. `npm run chaos` goes on for longer. */
const OPTIONS = { kills: 8, seconds: 8, payers: 12, seed: 12 };

export const keepsItsPromises = (store: StoreName) =>
  t.test(`no promise is broken on ${store} while gateways are killed`, async (t) => {
    const found = await campaign({ store, chains: 'simulated', ...OPTIONS });
    t.comment(figuresOf(found));
    t.ok([...found.done.keys()].some((what) => what.startsWith('killed')));
    t.not(found.ledger.transfers.length, 0, 'payments were settled meanwhile');
    t.same(found.violations, [], 'no promise was broken');
    if (found.violations.length > 0) t.comment(violationsOf(found, OPTIONS.seed));
  });

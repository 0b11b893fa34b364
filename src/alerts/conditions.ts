/** What lasts: told when it begins and, where its end matters, when no instance sees it any more. */
import type { AlertType } from '../catalogue/files/alerts.ts';
import type { AlertsFile } from '../catalogue/types.ts';
import type { AlertStore } from '../store/alerts/alert-store.ts';
import { letter, type News } from './letter.ts';

/** What tells of the end, and what its subject is called there. */
const ENDS: Readonly<Partial<Record<AlertType, readonly [AlertType, string]>>> = {
  'facilitator.down': ['facilitator.up', 'network'],
  'upstream.down': ['upstream.up', 'upstream'],
};

interface Seen {
  /** Of which everything that holds is in `news`. */
  readonly types: readonly AlertType[];
  readonly news: readonly News[];
  /** Whether it could not be looked at: what was known of it stays. */
  readonly isUnseen?: (subject: string) => boolean;
  readonly now: number;
  /** As long as somebody has seen it so lately, it holds. */
  readonly heldMs: number;
}

const subjectOf = ({ type, about }: Pick<News, 'type' | 'about'>): string => `${type}:${about}`;

/** Compares what this instance sees with what is known. */
export async function tellConditions(
  store: Pick<AlertStore, 'raise' | 'hold' | 'clear' | 'raised'>,
  settings: AlertsFile,
  { types, news, isUnseen = () => false, now, heldMs }: Seen,
): Promise<void> {
  const until = now + heldMs;
  const raised = new Set(await store.raised());
  const holding = new Set(news.map(subjectOf));
  for (const each of news) {
    const subject = subjectOf(each);
    if (!raised.has(subject)) await store.raise({ subject, now, alert: letter(settings, each, now) }, until);
  }
  // Thousands of keys may be low for months.
  await store.hold(
    [...holding].filter((subject) => raised.has(subject)),
    until,
  );
  for (const subject of raised) {
    const type = types.find((one) => subject.startsWith(`${one}:`));
    if (type === undefined || holding.has(subject) || isUnseen(subject)) continue;
    const about = subject.slice(type.length + 1);
    const [end, name] = ENDS[type] ?? [];
    const told = end && name ? letter(settings, { type: end, about, data: { [name]: about } }, now) : undefined;
    const alert = told ?? { occurrence: subject, type, body: '', receivers: [] };
    await store.clear({ subject, now, alert });
  }
}

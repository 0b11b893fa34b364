import { useState } from 'preact/hooks';
import { goTo, linkTo } from '../route.ts';
import { dayOf, isoOf } from './format.ts';

const DAY_MS = 86_400_000;

const SPANS = { '24h': ['24 hours', DAY_MS], '7d': ['7 days', 7 * DAY_MS], '30d': ['30 days', 30 * DAY_MS] } as const;

type Query = Readonly<Record<string, string>>;

/** A period that ends now, or whole days of UTC. */
export interface Period {
  /** Tells it apart from others: one that ends now moves on and is still the same. */
  readonly key: string;
  readonly words: string;
  /** In milliseconds since the epoch, as of now. */
  bounds(): { readonly from: number; readonly to: number };
}

const isDay = (text: string | undefined): text is string =>
  /^\d{4}-\d\d-\d\d$/.test(text ?? '') && !Number.isNaN(Date.parse(text ?? ''));

/** The period that an address names; a day unless it names one. */
export function periodOf({ period, from, to }: Query): Period {
  if (isDay(from) && isDay(to) && from <= to) {
    const bounds = { from: Date.parse(from), to: Date.parse(to) + DAY_MS };
    const words = from === to ? dayOf(bounds.from) : `${dayOf(bounds.from)} to ${dayOf(bounds.to - DAY_MS)}`;
    return { key: `${from} ${to}`, words, bounds: () => bounds };
  }
  const key = period !== undefined && Object.hasOwn(SPANS, period) ? (period as keyof typeof SPANS) : '24h';
  const [words, span] = SPANS[key];
  const bounds = () => {
    const to = Date.now();
    return { from: to - span, to };
  };
  return { key, words: `last ${words}`, bounds };
}

const today = (): string => isoOf(Date.now()).slice(0, 10);

function Days({ page, query }: { page: string; query: Query }) {
  const [from, setFrom] = useState(query.from ?? today());
  const [to, setTo] = useState(query.to ?? today());
  return (
    <form
      class="days"
      onSubmit={(event) => {
        event.preventDefault();
        goTo(page, { from, to });
      }}
    >
      <label>
        From{' '}
        <input type="date" required value={from} max={to} onInput={(event) => setFrom(event.currentTarget.value)} />
      </label>
      <label>
        to <input type="date" required value={to} min={from} onInput={(event) => setTo(event.currentTarget.value)} />
      </label>
      <button type="submit">Show</button>
    </form>
  );
}

/** Which period a page shows, kept in its address. */
export function PeriodPicker({ page, query }: { page: string; query: Query }) {
  const { key } = periodOf(query);
  const isCustom = !(key in SPANS);
  const [isOpen, setOpen] = useState(isCustom);
  return (
    <div class="period">
      <nav aria-label="Period">
        {Object.entries(SPANS).map(([name, [words]]) => (
          <a
            key={name}
            href={linkTo(page, { period: name })}
            aria-current={!isOpen && name === key ? 'true' : undefined}
            onClick={() => setOpen(false)}
          >
            {words}
          </a>
        ))}
        <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          Days
        </button>
      </nav>
      {isOpen && <Days page={page} query={query} />}
    </div>
  );
}

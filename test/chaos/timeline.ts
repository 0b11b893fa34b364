/** What happened in a campaign, in order: what payers sent and got, what the world was asked, what was done to gateways. */

export interface Happening {
  /** Milliseconds since the campaign began. */
  readonly at: number;
  readonly what: string;
  /** The purchase that it belongs to. */
  readonly mark?: string | undefined;
  /** The place of the gateway that did it, or to which it was done. */
  readonly slot?: number | undefined;
}

export interface Timeline {
  now(): number;
  note(what: string, about?: { readonly mark?: string | undefined; readonly slot?: number | undefined }): void;
  /** From now on whatever the world hears of this payment belongs to the purchase. */
  belongs(payment: string, mark: string): void;
  markOf(payment: string): string | undefined;
  /** All that happened to a purchase, with what was done to gateways and to the database meanwhile. */
  of(mark: string): readonly Happening[];
}

export function openTimeline(): Timeline {
  const startedAt = performance.now();
  const byMark = new Map<string, Happening[]>();
  /** What belongs to no purchase. */
  const common: Happening[] = [];
  const marks = new Map<string, string>();
  const now = () => Math.round(performance.now() - startedAt);
  return {
    now,
    note(what, { mark, slot } = {}) {
      const happening = { at: now(), what, mark, slot };
      if (mark === undefined) {
        common.push(happening);
        return;
      }
      const known = byMark.get(mark);
      if (known) known.push(happening);
      else byMark.set(mark, [happening]);
    },
    belongs: (payment, mark) => void marks.set(payment, mark),
    markOf: (payment) => marks.get(payment),
    of(mark) {
      const own = byMark.get(mark) ?? [];
      const [first, last] = [own[0]?.at ?? 0, own.at(-1)?.at ?? 0];
      const meanwhile = common.filter(({ at }) => at >= first && at <= last);
      return [...own, ...meanwhile].sort((one, other) => one.at - other.at);
    },
  };
}

const inWords = ({ at, what, slot }: Happening): string =>
  `${String(at).padStart(8)} ms  ${slot === undefined ? '         ' : `gateway ${slot}`}  ${what}`;

const sameWords = (one: Happening | undefined, other: Happening | undefined): boolean =>
  one !== undefined && one.what === other?.what && one.slot === other.slot;

/** A line each. What somebody asks again and again, and gets the same, is shown once, and how often it came besides. */
export function inLines(happenings: readonly Happening[]): string[] {
  const lines: string[] = [];
  let repeated = 0;
  for (const [place, happening] of happenings.entries()) {
    const [last, before] = [happenings[place - 1], happenings[place - 2]];
    const isNext = sameWords(happening, before) && sameWords(last, happenings[place - 3]);
    if (isNext) repeated += 1;
    else {
      if (repeated > 0) lines.push(`             ... ${repeated} more like these`);
      repeated = 0;
      lines.push(inWords(happening));
    }
  }
  if (repeated > 0) lines.push(`             ... ${repeated} more like these`);
  return lines;
}

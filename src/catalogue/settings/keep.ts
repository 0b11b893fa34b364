/** `keep` of `service.yaml`. */
import type { Checker } from '../checker.ts';
import type { KeepFile } from '../types.ts';
import { below, type SourceLocation } from '../yaml/yaml-document.ts';

/** Milliseconds; undefined: for ever. */
export interface Keep {
  readonly answersMs: number;
  readonly paymentsMs: number | undefined;
  readonly mediaMs: number | undefined;
}

const DAY_MS = 86_400_000;

/** Whoever has signed something that is good for long must still be known when it is sent again. */
const LEAST_PAYMENTS_DAYS = 30;

const daysOf = (text: string): number => (text === 'forever' ? Number.POSITIVE_INFINITY : Number.parseInt(text, 10));

const usual: Required<KeepFile> = { answers: '30d', payments: 'forever', media: 'forever' };

/** Of a file that `checkKeep` found right. */
export function keepOf(file: KeepFile | undefined): Keep {
  const { answers, payments, media } = { ...usual, ...file };
  const milliseconds = (text: string) => (text === 'forever' ? undefined : daysOf(text) * DAY_MS);
  return {
    answersMs: daysOf(answers) * DAY_MS,
    paymentsMs: milliseconds(payments),
    mediaMs: milliseconds(media),
  };
}

/** An answer without its files, or without the payment that it belongs to, is none. */
export function checkKeep(location: SourceLocation, file: KeepFile | undefined, { diagnostics }: Checker): void {
  const { answers, payments, media } = { ...usual, ...file };
  const demand = (field: keyof KeepFile, days: number, least: number, why: string) => {
    if (days < least) diagnostics.add(below(location, 'keep', field), why, `give ${least}d or more, or forever`);
  };
  const least = daysOf(answers);
  demand('media', daysOf(media), least, `files would be gone before the answers that point at them (${answers})`);
  const paid = Math.max(least, LEAST_PAYMENTS_DAYS);
  demand('payments', daysOf(payments), paid, 'a payment that is forgotten too soon could be shown again');
}

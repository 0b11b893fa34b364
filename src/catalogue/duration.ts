const DURATION = /^([1-9][0-9]*)(ms|s|m|h)$/;
const MILLISECONDS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** `parseDuration("10m")` is 600000 milliseconds; undefined for what is not a duration. */
export function parseDuration(duration: string): number | undefined {
  const match = DURATION.exec(duration);
  const unit = MILLISECONDS[match?.[2] ?? ''];
  return match && unit !== undefined ? Number(match[1]) * unit : undefined;
}

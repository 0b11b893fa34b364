const units = ['', 'K', 'M', 'B', 'T'] as const;

const inTenths = (value: number): number => Math.round(value * 10) / 10;

/** `$1.2M`: one decimal at most. What rounds up to a thousand of a unit is given in the next: 999,950 is `$1M`. */
export function dollars(amount: number): string {
  let value = amount;
  let place = 0;
  while (inTenths(value) >= 1000 && place < units.length - 1) {
    value /= 1000;
    place += 1;
  }
  return `$${inTenths(value)}${units[place]}`;
}

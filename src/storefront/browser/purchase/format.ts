/** Atomic units as people read them: `60000` of six decimals is `0.06`. */
export function amountOf(atomic: string, decimals: number): string {
  const digits = atomic.padStart(decimals + 1, '0');
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  const whole = digits.slice(0, digits.length - decimals);
  return fraction === '' ? whole : `${whole}.${fraction.padEnd(2, '0')}`;
}

export const duration = (ms: number): string => (ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`);

/** The middle of what is long and told by its ends: an address, a transaction. */
export const abridged = (text: string): string => (text.length <= 16 ? text : `${text.slice(0, 8)}…${text.slice(-6)}`);

/**
 * The time as of now, for good: what is signed, allowed or leased meanwhile does not run out, however long a test takes. On
 * Solana a payment is good for a minute alone (`solanaNow`).
 */
export function stoppedClock(): () => number {
  const stoppedAt = Date.now();
  return () => stoppedAt;
}

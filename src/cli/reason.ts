/** Why something failed: what lies at the bottom of it, which for Node's `fetch failed` alone says anything. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && error.cause.message !== '' ? reasonOf(error.cause) : error.message;
}

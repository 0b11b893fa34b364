/** What was checked of a proof, and how it came out. */

/** A fault says in words what does not hold; `unchecked` is what cannot be checked here. */
type Outcome = 'ok' | 'unchecked' | { readonly fault: string };

/** Name -> outcome, in the order in which they were made. Plain JSON, so that it can be cached. */
export type Checks = Readonly<Record<string, Outcome>>;

export const outcome = (holds: boolean, fault: string): Outcome => (holds ? 'ok' : { fault });

/** What does not hold; empty where nothing is wrong. */
export const faultsOf = (checks: Checks): string[] =>
  Object.values(checks).flatMap((result) => (typeof result === 'object' ? [result.fault] : []));

/** As results show them. */
export const shownChecks = (checks: Checks): Record<string, 'ok' | 'failed' | 'unchecked'> =>
  Object.fromEntries(
    Object.entries(checks).map(([name, result]) => [name, typeof result === 'object' ? 'failed' : result]),
  );

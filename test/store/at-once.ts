import { throughOutage } from '../../src/store/through-outage.ts';

/** Asks so often at the same time. A database that is slow serves some later than their store waits for a connection. */
export const atOnce = <Result>(many: number, ask: (index: number) => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: many }, (_, index) => throughOutage(() => ask(index))));

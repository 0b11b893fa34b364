/**
 * Everything that can happen to a payment, in every order: requests side by side, instances that die or sleep through
 * their leases at any step, whatever facilitator, chain and provider answer. `rules.ts` says what must hold.
 */
import { promise } from './promise.ts';
import { scenarios } from './scenarios.ts';

await promise(scenarios);

/** Searches through a scenario, and says what was found. */
import type { Store } from '../../src/store/store.ts';
import { type Explored, explore, type FoundViolation, replay } from './explore.ts';
import { runScenario } from './run.ts';
import type { Scenario } from './scenario.ts';
import { openTape } from './tape.ts';
import { withModelTime } from './time.ts';
import { openTurnableStore } from './turnable-store.ts';

/** `change`: what the store does otherwise; the search is over then with the first violation. */
export function search(scenario: Scenario, change?: (store: Store) => Store): Promise<Explored> {
  const turnable = openTurnableStore();
  const store = change ? change(turnable.store) : turnable.store;
  const tape = openTape();
  const isEnough = () => change !== undefined;
  return withModelTime(() => explore((guide) => runScenario(scenario, store, tape, guide), turnable, isEnough));
}

/** One run on any store. Throws Violation. */
export const again = (scenario: Scenario, store: Store, choices: readonly number[]) =>
  withModelTime(() => replay((guide) => runScenario(scenario, store, openTape(), guide), choices));

export const inWords = ({ name }: Scenario, { interleavings, states, runs }: Explored): string =>
  `${name}: ${interleavings.toLocaleString('en')} interleavings, in ${states} states and ${runs} runs`;

/** The steps that led to it, and how to go through them again. */
export const violationInWords = ({ name }: Scenario, { message, steps, choices }: FoundViolation): string =>
  [
    message,
    ...steps.map((step, place) => `  ${place + 1}. ${step}`),
    `  again: npm run model -- --scenario '${name}' --choices ${choices.join('.')}`,
  ].join('\n');

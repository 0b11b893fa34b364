/** The searches of the tests, or wider ones; `--choices` prints the steps of one run. Exits 1 where something is violated. */
import { programOptions } from '../program-options.ts';
import { channelScenarios } from './channel-scenarios.ts';
import { Violation } from './explore.ts';
import type { Scenario } from './scenario.ts';
import { scenarios } from './scenarios.ts';
import { again, inWords, search, violationInWords } from './search.ts';
import { openTurnableStore } from './turnable-store.ts';

const USAGE =
  'npm run model -- [--scenario <part of a name>] [--choices 0.2.1] [--crashes 2] [--sleeps 1] [--reconciles 1] [--silences 1]';

const values = programOptions(USAGE, {
  scenario: { type: 'string', default: '' },
  choices: { type: 'string' },
  crashes: { type: 'string' },
  sleeps: { type: 'string' },
  reconciles: { type: 'string' },
  silences: { type: 'string' },
});

const print = (text: string) => process.stdout.write(`${text}\n`);
const count = (text: string | undefined, usual: number): number => (text === undefined ? usual : Number(text));
const wider = (scenario: Scenario): Scenario => ({
  ...scenario,
  crashes: count(values.crashes, scenario.crashes),
  sleeps: count(values.sleeps, scenario.sleeps),
  reconciles: count(values.reconciles, scenario.reconciles),
  silences: count(values.silences, scenario.silences),
});

async function goThrough(scenario: Scenario, choices: readonly number[]): Promise<void> {
  try {
    const { steps } = await again(scenario, openTurnableStore().store, choices);
    print(steps.join('\n'));
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    print(violationInWords(scenario, { ...error, message: error.message, choices }));
    process.exitCode = 1;
  }
}

for (const scenario of [...scenarios, ...channelScenarios]
  .filter(({ name }) => name.includes(values.scenario))
  .map(wider)) {
  if (values.choices !== undefined) await goThrough(scenario, values.choices.split('.').map(Number));
  else {
    const found = await search(scenario);
    print(inWords(scenario, found));
    for (const violation of found.violations) print(violationInWords(scenario, violation));
    if (found.violations.length > 0) process.exitCode = 1;
  }
}

/** One run of a scenario, from its beginning through everything that is chosen to what is left at the end. */
import type { Store } from '../../src/store/store.ts';
import { aftermath } from './aftermath.ts';
import type { Guide } from './explore.ts';
import type { Arrival, Scenario } from './scenario.ts';
import { type Done, nextSteps } from './steps.ts';
import type { Tape } from './tape.ts';
import { openWorld, type Sent, type Step, type World } from './world.ts';

const MOST_STEPS = 200;

/** Answers how the payments ended, and what was done. Throws Violation. */
export async function runScenario(scenario: Scenario, store: Store, tape: Tape, guide: Guide) {
  tape.rewind();
  const world = openWorld(scenario, store, tape, guide);
  const done: Done = { crashes: 0, sleeps: 0, reconciles: 0, leases: 0 };
  const sent = new Map<string, Sent>();
  const state = () => world.state([done, [...sent].map(([name, { ending }]) => [name, ending?.kind])]);
  await world.money.begin(world);
  await arrive(world, sent, done);
  for (let next = firstSteps(world, done); next.length > 0; next = nextSteps(world, done)) {
    const labels = next.map(({ label }) => label);
    const chosen = next.length === 1 ? 0 : await guide.choose(labels, state);
    const step = next[chosen];
    if (!step) throw new Error(`There is no choice ${chosen} among:\n${labels.join('\n')}`);
    await world.take(step);
    await arrive(world, sent, done);
    if (world.steps.length > MOST_STEPS) world.fail('it goes on for ever');
  }
  // Whichever way it came to this: what follows is the same.
  await guide.choose(['the end'], world.remains);
  await aftermath(world);
  return { payments: await world.payments(), steps: world.steps };
}

/** Where all who come first bring the same, to an instance each, it does not matter which of these begins. */
function firstSteps(world: World, done: Done): Step[] {
  const [first, ...others] = world.scenario.arrivals.filter(({ after }) => after === undefined);
  const what = ({ name, instance, ...rest }: Arrival) => JSON.stringify(rest);
  const steps = nextSteps(world, done);
  const isAlike = first && others.every((other) => what(other) === what(first) && other.instance !== first.instance);
  const isOther = (by: string | undefined) => others.some(({ instance }) => instance === by);
  return isAlike ? steps.filter(({ by }) => !isOther(by)) : steps;
}

/** Requests that come at once are there from the beginning: until their first operation happens, they change nothing. */
async function arrive(world: World, sent: Map<string, Sent>, { reconciles }: Done): Promise<void> {
  const isOver = ({ name, instance }: Arrival): boolean =>
    sent.has(name) && (sent.get(name)?.ending !== undefined || world.instance(instance).process.condition === 'dead');
  const { arrivals } = world.scenario;
  for (const arrival of arrivals) {
    const before = arrivals.find(({ name }) => name === arrival.after);
    if (sent.has(arrival.name) || (before && !isOver(before))) continue;
    if (arrival.comesLate && reconciles === 0) continue;
    const instance = world.instance(arrival.instance);
    if (instance.process.condition !== 'dead') sent.set(arrival.name, await world.send(arrival, instance));
  }
}

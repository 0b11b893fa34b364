/** What can happen next in a run. */
import { type Instance, LEASE_MS } from './instance.ts';
import type { Process } from './process.ts';
import { DEADLINE_MS } from './sold.ts';
import type { Step, World } from './world.ts';

/** How often it happened. */
export interface Done {
  crashes: number;
  sleeps: number;
  reconciles: number;
  /** The time of a lease passed: it does once for each who died or fell asleep. */
  leases: number;
}

const LEASE_OVER_MS = LEASE_MS + 1_000;
/** The gateway's reconciler leaves payments alone for a minute after their leases ran out. */
const ABANDONED_MS = LEASE_MS + 61_000;
/** And what the gateway waits besides. */
const DEADLINE_OVER_MS = DEADLINE_MS + 10_000;

export function nextSteps(world: World, done: Done): Step[] {
  const steps = [
    ...[...world.instances.values()].flatMap((instance) => stepsOf(instance, world, done)),
    ...world.money.steps(),
    ...stepsOfTime(world, done),
  ];
  const isOpen = [...world.instances.values()].some(({ process }) => process.isBusy && process.condition !== 'dead');
  if (steps.length > 0 || !isOpen) return steps;
  return [{ label: 'the deadline of every call passes', happen: () => world.pass(DEADLINE_OVER_MS) }];
}

/** Time passes only where nobody who is awake waits for something that takes none. */
function stepsOfTime(world: World, done: Done): Step[] {
  const { instances, instance, pass, scenario } = world;
  const isAnybodyQuick = [...instances.values()].some(
    ({ process }) => process.condition === 'awake' && process.waiting.some(({ isQuick }) => isQuick),
  );
  if (isAnybodyQuick) return [];
  const steps: Step[] = [];
  if (isLeaseToPass(world, done)) {
    const happen = async () => {
      done.leases += 1;
      await pass(LEASE_OVER_MS);
    };
    steps.push({ label: 'the time of a lease passes', happen });
  }
  const isAnybodyBusy = [...instances.values()].some(({ process }) => process.isBusy);
  if (done.reconciles < scenario.reconciles && isAnybodyBusy) {
    const happen = async () => {
      done.reconciles += 1;
      await pass(ABANDONED_MS);
      await instance('reconciler').reconcile();
    };
    steps.push({ label: 'after a while another instance looks for what was left', happen });
  }
  return steps;
}

function isLeaseToPass({ instances }: World, { sleeps, leases }: Done): boolean {
  const dead = [...instances.values()].filter(({ process }) => process.condition === 'dead');
  return dead.length + sleeps > leases;
}

function stepsOf(instance: Instance, world: World, done: Done): Step[] {
  const { process } = instance;
  switch (process.condition) {
    case 'dead':
      return [];
    case 'asleep':
      return isLeaseToPass(world, done) ? [] : wakings(instance);
    case 'awake': {
      const possible = process.waiting.flatMap((operation) =>
        operation.outcomes().map((outcome) => ({ operation, outcome })),
      );
      return [
        ...possible.map(({ operation, outcome }) => ({
          label: `${process.name} ${operation.label}: ${outcome.label}`,
          by: process.name,
          happen: () => process.perform(operation, outcome),
        })),
        ...(process.isBusy ? mishaps(process, world, done) : []),
      ];
    }
  }
}

function wakings({ process, renew }: Instance): Step[] {
  const { name } = process;
  const renewsFirst = async () => {
    await renew();
    await process.wake();
  };
  return [
    { label: `${name} wakes`, happen: () => process.wake() },
    { label: `${name} wakes, and prolongs its leases first`, happen: renewsFirst },
  ];
}

/** At any step: also while something happens that it hears of only later. */
function mishaps(process: Process, { scenario }: World, done: Done): Step[] {
  const { name } = process;
  const steps: Step[] = [];
  if (done.sleeps < scenario.sleeps && process.waiting.length > 0) {
    const sleep = () => {
      done.sleeps += 1;
      process.sleep();
    };
    steps.push({ label: `${name} falls asleep`, by: name, happen: async () => sleep() });
    for (const operation of process.waiting.filter(({ mayGoUnheard }) => mayGoUnheard)) {
      for (const outcome of operation.outcomes()) {
        const happen = async () => {
          sleep();
          await process.performUnheard(operation, outcome);
        };
        const label = `${name} falls asleep, and meanwhile ${operation.label}: ${outcome.label}`;
        steps.push({ label, by: name, happen });
      }
    }
  }
  if (done.crashes < scenario.crashes) {
    const happen = async () => {
      done.crashes += 1;
      process.die();
    };
    steps.push({ label: `${name} dies`, by: name, happen });
  }
  return steps;
}

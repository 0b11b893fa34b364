/**
 * What follows every run: everything works again, the reconciler has run, payers come back with their proofs, others try
 * them too. After it nothing may be left in between.
 */
import type { Outcome as Ending } from '../../src/lifecycle/outcome.ts';
import { EXPIRES_AT } from './chain.ts';
import type { Instance } from './instance.ts';
import { faultAtTheEnd } from './rules.ts';
import type { Arrival } from './scenario.ts';
import type { World } from './world.ts';

const MINUTE_MS = 60_000;

export async function aftermath(world: World): Promise<void> {
  const { money, upstream, scenario, pass, fail } = world;
  money.calmDown();
  upstream.calmDown();
  const instance = world.instance('afterwards');
  await lookAfter(world, instance);

  for (const arrival of scenario.arrivals) {
    const first = await sendAgain(world, instance, arrival);
    const second = await sendAgain(world, instance, arrival);
    const fault = money.faultOfReturn(arrival, first);
    if (fault) fail(`${arrival.name} ${fault}`);
    if (first.kind !== 'result') continue;
    if (second.kind !== 'result' || second.answer.body !== first.answer.body) {
      fail(`${arrival.name} got an answer, and no more with the same proof`);
    }
  }

  await pass(EXPIRES_AT);
  await lookAfter(world, instance);
  for (const [name, payment] of await world.payments()) {
    const fault = faultAtTheEnd(payment, money);
    if (fault) fail(`${name}: ${fault}`);
  }
  await othersTry(world, instance);
  const { background } = money;
  if (!background) return;
  await world.take({ label: 'the background does the rest', happen: () => background(instance) });
  await finish(world, instance);
  const fault = money.faultAtTheEnd();
  if (fault) fail(fault);
}

/** The reconciler's rounds, until nothing is due any more. */
async function lookAfter(world: World, instance: Instance): Promise<void> {
  for (const _ of [1, 2]) {
    await world.pass(10 * MINUTE_MS);
    await world.take({
      label: 'the reconciler runs',
      happen: () => instance.reconcile(),
    });
    await finish(world, instance);
  }
}

async function sendAgain(
  world: World,
  instance: Instance,
  arrival: Arrival,
  changes?: { by?: string; prompt?: string },
): Promise<Ending> {
  let sent: { ending?: Ending } = {};
  await world.take({
    label: `${arrival.name} is sent again${changes ? ` with ${JSON.stringify(changes)}` : ''}`,
    async happen() {
      sent = await world.send(arrival, instance, changes);
    },
  });
  await finish(world, instance);
  return sent.ending ?? world.fail(`${arrival.name} gets no answer`);
}

/** Everything that the instance waits for happens. */
async function finish({ take, pass, fail }: World, { process }: Instance): Promise<void> {
  for (let turns = 0; process.isBusy; turns += 1) {
    if (turns > 100) fail(`${process.name} does not come to an end`);
    const [operation] = process.waiting;
    const [outcome] = operation?.outcomes() ?? [];
    if (!operation || !outcome) await pass(MINUTE_MS);
    else {
      const label = `${process.name} ${operation.label}: ${outcome.label}`;
      await take({ label, happen: () => process.perform(operation, outcome) });
    }
  }
}

/** Who shows a proof that is not theirs, or wants something else for it, gets nothing. */
async function othersTry(world: World, instance: Instance): Promise<void> {
  const calls = world.upstream.calls.length;
  for (const arrival of world.scenario.arrivals) {
    if (!(await world.payments()).has(world.idOf(arrival))) continue;
    for (const changes of [{ by: 'somebody else' }, { prompt: 'something else' }]) {
      const { kind } = await sendAgain(world, instance, arrival, changes);
      if (kind === 'result') world.fail(`${arrival.name}: another gets the answer ${JSON.stringify(changes)}`);
    }
  }
  if (world.upstream.calls.length > calls) world.fail('the upstream works for others');
}

/** What the store was asked and answered, for the next run: as far as it repeats this one, the store has it already. */
import type { Store } from '../../src/store/store.ts';

export interface Tape {
  rewind(): void;
  /** `isKnown`: the run before asked the same. */
  ask<Result>(isKnown: boolean, question: () => Promise<Result>): Promise<Result>;
}

export function openTape(): Tape {
  let place = 0;
  const answers: { readonly result: unknown }[] = [];
  return {
    rewind() {
      place = 0;
    },
    async ask(isKnown, question) {
      const known = answers[place];
      const answer = isKnown && known ? known : { result: await question() };
      answers[place] = answer;
      place += 1;
      return answer.result as Awaited<ReturnType<typeof question>>;
    },
  };
}

/** The store as a run asks it: what payments are made of. */
export function taped(store: Store, tape: Tape, isKnown: () => boolean): Store {
  const asked =
    <Args extends unknown[], Result>(method: (...args: Args) => Promise<Result>) =>
    (...args: Args): Promise<Result> =>
      tape.ask(isKnown(), () => method(...args));
  const { channels } = store;
  return {
    ...store,
    find: asked(store.find),
    list: asked(store.list),
    cached: asked(store.cached),
    claim: asked(store.claim),
    cover: asked(store.cover),
    fulfil: asked(store.fulfil),
    settle: asked(store.settle),
    giveUp: asked(store.giveUp),
    resolve: asked(store.resolve),
    renew: asked(store.renew),
    channels: {
      ...channels,
      find: asked(channels.find),
      findFor: asked(channels.findFor),
      reserve: asked(channels.reserve),
      adopt: asked(channels.adopt),
      sync: asked(channels.sync),
      unclaimed: asked(channels.unclaimed),
      take: asked(channels.take),
      letGo: asked(channels.letGo),
    },
  };
}

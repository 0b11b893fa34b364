/** Background work that asks chains: a node that does not answer keeps its own network waiting, and no other. */

/** Nothing more is begun on a network in this round; the next one goes on. */
const ROUND_MS = 30_000;

/** Does one after the other, networks at the same time. Answers for how many `each` was true. */
export async function byNetwork<Item extends { readonly network: string }>(
  items: readonly Item[],
  now: () => number,
  each: (item: Item) => Promise<boolean>,
): Promise<number> {
  const networks = new Map<string, Item[]>();
  for (const item of items) networks.set(item.network, [...(networks.get(item.network) ?? []), item]);
  const until = now() + ROUND_MS;
  let done = 0;
  const inTurn = async (turns: readonly Item[]) => {
    for (const item of turns) {
      if (now() > until) return;
      if (await each(item)) done += 1;
    }
  };
  await Promise.all([...networks.values()].map(inTurn));
  return done;
}

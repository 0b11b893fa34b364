/** Once nothing fails any more: payers come back, what was left in between ends, and everybody asks again. */
import { type Books, isUnderWay } from './books.ts';
import { checkQuiet } from './checks/books.ts';
import { openDice } from './dice.ts';
import { askAgain, persist } from './payer.ts';
import { endOf, type Purchase } from './purchase.ts';
import type { Stage } from './stage.ts';

export interface Aftermath {
  /** Who came back with a payment that is good for long enough. */
  readonly returned: readonly Purchase[];
  /** Once the reconciler had its time, and before anybody asked for an answer again. */
  readonly quiet: Books;
  /** After every payer has asked again, and what that began has ended. */
  readonly books: Books;
}

/** How long who comes back, or asks once more, goes on asking: nothing fails any more, so it is served long before. */
const RETURN_MS = 60_000;
/** How long what gateways work at may take to end. */
const END_MS = 60_000;
/** Everything that was signed and not used is out of date after it. */
const LONG_SECONDS = 7_200;
/** A payment that is good for less may be refused for it. */
const GOOD_FOR_MS = 25_000;
const TOGETHER = 16;

/** Not more than so many at a time. */
async function eachOf<Item>(items: readonly Item[], work: (item: Item) => Promise<unknown>): Promise<void> {
  const left = [...items];
  const workers = Array.from({ length: TOGETHER }, async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  });
  await Promise.all(workers);
}

export async function aftermath(stage: Stage, purchases: readonly Purchase[]): Promise<Aftermath> {
  const { seed, books, chains, timeline } = stage;
  const dice = openDice(seed, 'aftermath');

  const returned = purchases.filter((purchase) => {
    const proof = purchase.proofs.at(-1);
    if (!proof || purchase.habit === 'leaving' || endOf(purchase, proof)) return false;
    return proof.validBefore * 1000 - Date.now() > GOOD_FOR_MS;
  });
  await eachOf(returned, async (purchase) => {
    // What the last is refused for, an earlier one of the same purchase may have to end first: also one that was answered, for
    // its chain may have taken it back.
    for (const proof of purchase.proofs) await persist(stage, purchase, proof, dice, { patienceMs: RETURN_MS });
  });

  await books.readOnce(({ payments }) => ![...payments.values()].some(isUnderWay), END_MS);
  await chains.letPass(LONG_SECONDS);
  timeline.note('ALL THAT WAS SIGNED IS OUT OF DATE');
  const readQuiet = () => books.readOnce((found) => checkQuiet(found, timeline.markOf).length === 0, chains.quietMs);
  const quiet = await readQuiet();

  const ledger = await chains.readLedger();
  await eachOf(purchases, async (purchase) => {
    for (const proof of purchase.proofs) {
      if (ledger.find(proof.payment) || quiet.payments.get(proof.payment)?.receipt)
        await askAgain(stage, purchase, proof, dice, RETURN_MS);
    }
  });
  return { returned, quiet, books: await readQuiet() };
}

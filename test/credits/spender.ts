/** Run by `kill.test.ts` as a process of its own: spends credits, many calls at a time, and prints what is durable. */
import { openStore } from '../../src/store/open.ts';
import { sampleHold } from '../store/credits/credit-samples.ts';

const [file, owner] = process.argv.slice(2) as [string, string];
const store = await openStore({ file });
const say = (...words: (string | bigint)[]) => process.stdout.write(`${words.join(' ')}\n`);

async function call(id: string, fate: number): Promise<void> {
  const { held } = await store.credits.hold(sampleHold(id, 900n, { owner }));
  if (!held) return;
  if (fate === 0) {
    if (await store.credits.release(id, 'failed', 1_500)) say('released', id);
    return;
  }
  const price = await store.credits.settle(id, { price: BigInt(fate * 10), note: 'used' }, 1_500);
  if (price !== undefined) say('settled', id, price);
}

for (let turn = 0; ; turn += 1) {
  await Promise.all(Array.from({ length: 20 }, (_, index) => call(`${owner}-${turn}-${index}`, index % 4)));
}

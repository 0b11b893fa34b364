/** Run by `sqlite.test.ts` as a process of its own: claims, fulfils and settles payments, and prints what is durable. */
import { Problem } from '../../../src/errors.ts';
import { openStore } from '../../../src/store/open.ts';
import { claimAt, sampleAnswer, sampleFacts, sampleReceipt } from '../samples.ts';

const [file, owner, count] = process.argv.slice(2) as [string, string, string];
const store = await openStore({ file });
const say = (state: string, id: string) => process.stdout.write(`${state} ${id}\n`);

async function work(id: string): Promise<void> {
  const outcome = await store.claim(sampleFacts(id), claimAt(1, { owner, leaseUntil: 1_000 }));
  if (!outcome.won) return;
  say('claimed', id);
  if (await store.fulfil(outcome.claim, sampleAnswer(), { now: 2 })) say('fulfilled', id);
  if (await store.settle(outcome.claim, sampleReceipt(), 3)) say('settled', id);
}

for (let index = 0; index < Number(count); index += 25) {
  const works = Array.from({ length: 25 }, (_, offset) => work(`payment-${index + offset}`));
  for (const ended of await Promise.allSettled(works)) {
    if (ended.status === 'rejected') say('refused', ended.reason instanceof Problem ? ended.reason.code : 'otherwise');
  }
}
await store.close();

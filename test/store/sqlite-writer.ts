/** Run by `sqlite.test.ts` as a process of its own: claims, fulfils and settles payments, and prints what is durable. */
import { openSqliteStore } from '../../src/store/sqlite.ts';
import { claimAt, sampleAnswer, sampleFacts, sampleReceipt } from './samples.ts';

const [file, owner, count] = process.argv.slice(2) as [string, string, string];
const store = openSqliteStore(file);
const say = (state: string, id: string) => process.stdout.write(`${state} ${id}\n`);

async function work(id: string): Promise<void> {
  const outcome = await store.claim(sampleFacts(id), claimAt(1, { owner, leaseUntil: 1_000 }));
  if (!outcome.won) return;
  say('claimed', id);
  if (await store.fulfil(outcome.claim, sampleAnswer(), { now: 2 })) say('fulfilled', id);
  if (await store.settle(outcome.claim, sampleReceipt(), 3)) say('settled', id);
}

for (let index = 0; index < Number(count); index += 25) {
  await Promise.all(Array.from({ length: 25 }, (_, offset) => work(`payment-${index + offset}`)));
}
await store.close();

import t from 'tap';
import { request, sendProof, signProof } from '../clients.ts';
import { type Gateway, startGateway } from '../gateway.ts';
import { startPostgres } from '../postgres.ts';

const PRICE = 60_000n;
const stores: Record<string, () => Promise<{ environment: Record<string, string>; stop(): Promise<void> }>> = {
  SQLite: async () => ({ environment: {}, stop: async () => undefined }),
  Postgres: async () => {
    const { url, stop } = await startPostgres();
    return { environment: { DATABASE_URL: url }, stop };
  },
};

/** The call as another instance gets it. */
const at = (url: string, gateway: Gateway, call: ReturnType<typeof request>) => ({
  ...call,
  url: call.url.replace(gateway.url, url),
});

for (const [name, open] of Object.entries(stores)) {
  t.test(`two instances on one ${name} store`, async (t) => {
    const store = await open();
    t.teardown(store.stop);
    const frozen = Date.now();
    let isDead = false;
    const gateway = await startGateway({
      networks: ['chain-c'],
      environment: store.environment,
      // An instance that died renews no lease: its clock stands still.
      now: () => (isDead ? frozen : Date.now()),
    });
    let ahead = 0;
    const other = await gateway.startAnother(() => Date.now() + ahead);

    await t.test('one proof sent to both makes one call and one settlement', async (t) => {
      const call = request(gateway, '/image/family-e-2', { prompt: 'a shared lighthouse' });
      const proof = await signProof(gateway, 'chain-c', call);
      const [earned, before] = [await gateway.earned('chain-c'), await gateway.calls()];
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, index) => sendProof(index % 2 ? call : at(other, gateway, call), proof)),
      );
      t.same(new Set(answers.map(({ status }) => status)), new Set([200]));
      t.equal((await gateway.earned('chain-c')) - earned, PRICE);
      t.equal((await gateway.calls()).upstreamCalls - before.upstreamCalls, 1);
    });

    await t.test('a claim whose instance died is taken over when its lease has run out', async (t) => {
      const call = request(gateway, '/image/family-e-2', { prompt: 'a lighthouse whose keeper died' });
      const proof = await signProof(gateway, 'chain-c', call);
      const earned = await gateway.earned('chain-c');
      await gateway.fault({ upstream: 'predictions', fault: 'timeout' });
      const { upstreamCalls } = await gateway.calls();
      const gone = new AbortController();
      const lost = sendProof({ ...call, init: { ...call.init, signal: gone.signal } }, proof).catch(() => 'gone');
      while ((await gateway.calls()).upstreamCalls === upstreamCalls) await new Promise(setImmediate);
      isDead = true;
      gone.abort();
      t.equal(await lost, 'gone');
      ahead = 35_000;
      const answer = await sendProof(at(other, gateway, call), proof);
      t.equal(answer.status, 200, await answer.clone().text());
      t.equal((await gateway.earned('chain-c')) - earned, PRICE);
    });

    await gateway.stop();
  });
}

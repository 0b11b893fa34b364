import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import Database from 'libsql';
import pg from 'pg';
import t, { type Test } from 'tap';
import { type PaidCall, receiptOf, request, sendProof, signProof } from '../../clients.ts';
import { signLasting } from '../../evm-wallet.ts';
import type { Gateway } from '../../gateway.ts';
import { startPostgres } from '../../postgres.ts';
import type { Hold } from '../../relay.ts';
import { startRelayedGateway } from '../../relayed-gateway.ts';

const PRICE = 60_000n;
const LEASE_MS = 30_000;

/** A database under a gateway, as its administrator has it. */
interface Administered {
  /** Milliseconds until the lease of a payment's first attempt runs out, by the database's clock. */
  leaseLeft(): Promise<number>;
  /** Lets it run out now, also where its answer is there and it is being settled. */
  endLease(): Promise<void>;
  /** The database can be used again once what this resolves to was called. */
  interrupt(): Promise<() => Promise<void>>;
}

interface Kind {
  readonly environment: Record<string, string>;
  administer(t: Test, gateway: Gateway): Promise<Administered>;
  stop(): Promise<void>;
}

const FIRST = `FROM payments WHERE state = 'claimed' AND attempt = 1`;
const END_LEASE = `UPDATE payments SET lease_until = 0 WHERE state IN ('claimed', 'fulfilled') AND attempt = 1`;

async function sqlite(): Promise<Kind> {
  return {
    environment: {},
    async administer(t, gateway) {
      const database = new Database(join(gateway.directory, 'turnpike.sqlite'));
      t.teardown(() => database.close());
      database.exec('PRAGMA busy_timeout = 5000');
      return {
        async leaseLeft() {
          const [row] = database.prepare(`SELECT lease_until ${FIRST}`).all() as { lease_until: number }[];
          return (row?.lease_until ?? Number.NaN) - Date.now();
        },
        async endLease() {
          database.exec(END_LEASE);
        },
        async interrupt() {
          database.exec('BEGIN IMMEDIATE');
          return async () => {
            database.exec('ROLLBACK');
          };
        },
      };
    },
    stop: async () => undefined,
  };
}

async function postgres(): Promise<Kind> {
  const { url, interrupt, stop } = await startPostgres();
  return {
    environment: { DATABASE_URL: url },
    async administer(t) {
      const pool = new pg.Pool({ connectionString: url, max: 1 });
      pool.on('error', () => {});
      t.teardown(() => pool.end());
      return {
        async leaseLeft() {
          const text = `SELECT lease_until - EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS left ${FIRST}`;
          return Number((await pool.query(text)).rows[0]?.left);
        },
        async endLease() {
          await pool.query(END_LEASE);
        },
        interrupt,
      };
    },
    stop,
  };
}

for (const [name, open] of Object.entries({ SQLite: sqlite, Postgres: postgres })) {
  t.test(`two instances on one ${name} store`, async (t) => {
    const kind = await open();
    t.teardown(kind.stop);
    const gateway = await startRelayedGateway({ networks: ['chain-c'], environment: kind.environment });
    t.teardown(gateway.stop);
    // The machine of the second has a wrong clock. Processes that share a file are on one machine.
    const ahead = name === 'Postgres' ? 60_000 : 0;
    const other = await gateway.startAnother(() => Date.now() + ahead);
    const store = await kind.administer(t, gateway);
    const at = (url: string, call: PaidCall): PaidCall => ({ ...call, url: call.url.replace(gateway.url, url) });
    const health = async (url: string) => {
      const answer = await fetch(`${url}/readyz`);
      return {
        status: answer.status,
        body: (await answer.json()) as { status: string; failing?: Record<string, string> },
      };
    };
    const becomes = async (status: number, url = gateway.url) => {
      while ((await health(url)).status !== status) await delay(50);
    };

    await t.test('one proof sent to both makes one call and one settlement', async (t) => {
      const call = request(gateway, '/image/family-e-2', { prompt: 'a shared lighthouse' });
      const proof = await signProof(gateway, 'chain-c', call);
      const [earned, before] = [await gateway.earned('chain-c'), await gateway.calls()];
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, index) => sendProof(index % 2 ? call : at(other, call), proof)),
      );
      t.same(new Set(answers.map(({ status }) => status)), new Set([200]));
      t.equal((await gateway.earned('chain-c')) - earned, PRICE);
      t.equal((await gateway.calls()).upstreamCalls - before.upstreamCalls, 1);
    });

    await t.test('leases run by the clock of the store, and an instance whose clock is wrong says so', async (t) => {
      const call = request(gateway, '/image/family-e-2', { prompt: 'a lighthouse whose keeper died' });
      const proof = await signLasting(gateway, 'chain-c', call);
      const earned = await gateway.earned('chain-c');
      await gateway.fault({ upstream: 'predictions', fault: 'timeout' });
      const { upstreamCalls } = await gateway.calls();
      const first = sendProof(at(other, call), proof);
      while ((await gateway.calls()).upstreamCalls === upstreamCalls) await delay(10);
      const left = await store.leaseLeft();
      // What an instance knows of a database's clock is an estimate, and nearer to it than to a clock that is wrong.
      t.ok(left > 0 && left <= LEASE_MS + ahead / 2, `${left} ms are left`);

      let isAnswered = false;
      const second = sendProof(call, proof).finally(() => {
        isAnswered = true;
      });
      // The first goes on prolonging it until it sees that it was overtaken.
      while (!isAnswered) {
        await store.endLease();
        await delay(50);
      }
      const answer = await second;
      t.equal(answer.status, 200, await answer.text());
      t.equal((await gateway.earned('chain-c')) - earned, PRICE);
      t.match(await (await first).json(), { error: { code: 'payment_in_progress' } }, 'it gave up by itself');

      await becomes(200);
      await becomes(ahead === 0 ? 200 : 503, other);
      const expected = ahead === 0 ? { status: 'ready' } : { status: 'unavailable', failing: { store: /clock/ } };
      t.match((await health(other)).body, expected);
    });

    await t.test('of payments under one key that come to both at once, one buys', async (t) => {
      const call = request(gateway, '/image/family-e-2', { prompt: 'a lighthouse with a key' });
      const earned = await gateway.earned('chain-c');
      const pay = async () => ({ ...(await signProof(gateway, 'chain-c', call)), 'idempotency-key': 'at once' });
      const proofs = await Promise.all(Array.from({ length: 6 }, pay));
      const answers = await Promise.all(
        proofs.map((proof, index) => sendProof(index % 2 ? call : at(other, call), proof)),
      );
      const statuses = new Set(answers.map(({ status }) => status));
      t.ok(statuses.delete(200));
      statuses.delete(409);
      t.same(statuses, new Set());
      t.equal((await gateway.earned('chain-c')) - earned, PRICE);
    });

    await t.test('a second payment under the key of one that died while it settled gets its answer', async (t) => {
      const call = request(gateway, '/image/family-e-2', { prompt: 'a lighthouse paid for and dead' });
      const pay = async () => ({ ...(await signProof(gateway, 'chain-c', call)), 'idempotency-key': 'died' });
      const [first, second] = [await pay(), await pay()];
      const earned = await gateway.earned('chain-c');
      const settlement = gateway.settlements.holdNext();
      const lost = sendProof(call, first);
      await settlement.reached;
      const takeOver = async () => {
        await store.endLease();
        return sendProof(at(other, call), second);
      };
      // The first may prolong it once more before the second has looked.
      let answer = await takeOver();
      while (/payment_in_progress/.test(await answer.clone().text())) answer = await takeOver();
      t.equal(answer.status, 200, await answer.clone().text());
      t.equal(answer.headers.get('idempotency-replayed'), 'true');
      settlement.release();
      await lost;
      t.equal((await gateway.earned('chain-c')) - earned, PRICE);
    });

    await t.test('an outage of the database is a 503, and over by itself', async (t) => {
      const call = request(gateway, '/image/family-e-2', { prompt: 'a lighthouse in the dark' });
      const proof = await signLasting(gateway, 'chain-c', call);
      const [earned, before] = [await gateway.earned('chain-c'), await gateway.calls()];
      const { apiKey } = gateway.state as { apiKey?: string };
      const chat = {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: 'vendor3-5.6-luna',
          messages: [{ role: 'user', content: 'Hi' }],
          max_tokens: 50,
        }),
      };
      const resume = await store.interrupt();
      const refused = sendProof(call, proof);
      const refusedChat = fetch(`${gateway.url}/v1/chat/completions`, chat);
      t.equal((await fetch(call.url, call.init)).status, 402, 'prices are told all the same');
      t.match(await refused, { status: 503 });
      t.ok((await refused).headers.get('retry-after'));
      t.match(await (await refused).json(), { error: { code: 'store_unavailable' } });
      t.match(await refusedChat, { status: 503 });
      t.match(await (await refusedChat).json(), { error: { code: 'store_unavailable', type: 'server_error' } });
      await becomes(503);
      t.match((await health(gateway.url)).body, { status: 'unavailable', failing: { store: /database/ } });

      await resume();
      await becomes(200);
      t.equal((await gateway.calls()).upstreamCalls, before.upstreamCalls);
      t.equal((await sendProof(call, proof)).status, 200);
      t.equal((await fetch(`${gateway.url}/v1/chat/completions`, chat)).status, 200);
      t.equal((await gateway.earned('chain-c')) - earned, PRICE);
    });

    /** The database goes away while the work waits there, and comes back a second after it has gone on. */
    async function outageAt({ reached, release }: Hold): Promise<void> {
      await reached;
      const resume = await store.interrupt();
      release();
      await delay(1_000);
      await resume();
    }

    await t.test(
      'what a provider has answered outlasts an outage that begins before all of it is looked at',
      async (t) => {
        const call = request(gateway, '/llm/verified', { model: 'vendor3-oss-20b', prompt: 'Is the lighthouse lit?' });
        const proof = await signProof(gateway, 'chain-c', call);
        const earned = await gateway.earned('chain-c');
        const answer = gateway.upstreams.gate.holdNext();
        const answered = sendProof(call, proof);
        await outageAt(answer);
        t.equal((await answered).status, 200, await (await answered).clone().text());
        t.equal((await gateway.earned('chain-c')) - earned, 1_400n);
      },
    );

    await t.test('a receipt outlasts an outage that begins when the money has moved', async (t) => {
      const call = request(gateway, '/image/family-e-2', { prompt: 'a lighthouse in a power cut' });
      const proof = await signProof(gateway, 'chain-c', call);
      const earned = await gateway.earned('chain-c');
      const settlement = gateway.settlements.holdNext();
      const answered = sendProof(call, proof);
      await outageAt(settlement);
      const answer = await answered;
      t.equal(answer.status, 200, await answer.clone().text());
      const again = await sendProof(call, proof);
      t.equal(again.headers.get('idempotency-replayed'), 'true');
      t.equal(receiptOf(again).transaction, receiptOf(answer).transaction);
      t.equal((await gateway.earned('chain-c')) - earned, PRICE);
    });
  });
}

/** The process behind `startLoad`. */
import { Pool } from 'undici';
import type { LoadJob, LoadResult } from './load.ts';
import { makePayments, type PaymentRequired } from './payments.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

async function paymentsFor(pool: Pool, { path, body, requests }: LoadJob): Promise<string[]> {
  const answer = await pool.request({ method: 'POST', path, body, headers: JSON_TYPE });
  await answer.body.dump();
  const header = answer.headers['payment-required'];
  if (typeof header !== 'string') throw new Error(`answered ${answer.statusCode} without PAYMENT-REQUIRED`);
  return makePayments(JSON.parse(Buffer.from(header, 'base64').toString()) as PaymentRequired, requests);
}

async function call(pool: Pool, { path, body, expects }: LoadJob, payment: string | undefined): Promise<void> {
  const headers = payment === undefined ? JSON_TYPE : { ...JSON_TYPE, 'payment-signature': payment };
  const answer = await pool.request({ method: 'POST', path, body, headers });
  if (answer.statusCode === expects) {
    await answer.body.dump();
    return;
  }
  throw new Error(`answered ${answer.statusCode}, not ${expects}: ${(await answer.body.text()).slice(0, 500)}`);
}

async function run(job: LoadJob): Promise<LoadResult> {
  const pool = new Pool(job.url, { connections: job.callers, pipelining: 1 });
  try {
    const payments = job.expects === 200 ? await paymentsFor(pool, job) : undefined;
    const startedAt = performance.now();
    const endsAt = startedAt + job.milliseconds;
    let asked = 0;
    let requests = 0;
    const caller = async () => {
      while (asked < job.requests && performance.now() < endsAt) {
        const payment = payments?.[asked];
        asked += 1;
        await call(pool, job, payment);
        requests += 1;
      }
    };
    await Promise.all(Array.from({ length: job.callers }, caller));
    return { requests, milliseconds: performance.now() - startedAt };
  } finally {
    await pool.destroy();
  }
}

process.on('message', (job: LoadJob) => {
  run(job).then(
    (result) => process.send?.(result),
    (error: unknown) => process.send?.({ problem: error instanceof Error ? error.message : String(error) }),
  );
});

/** The process behind `startLoad`. */
import { Pool } from 'undici';
import type { LoadAnswer, LoadJob, LoadResult, TimingJob, TimingResult } from './load.ts';
import { median } from './median.ts';
import { makePayments, type PaymentRequired } from './payments.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

async function paymentsFor(pool: Pool, job: LoadJob): Promise<string[]> {
  const { path, body, requests } = job;
  if (job.tool !== undefined) {
    const { result } = JSON.parse(messageIn(await (await askTool(pool, job)).body.text()));
    return makePayments(result.structuredContent as PaymentRequired, requests);
  }
  const answer = await pool.request({ method: 'POST', path, body, headers: JSON_TYPE });
  await answer.body.dump();
  const header = answer.headers['payment-required'];
  if (typeof header !== 'string') throw new Error(`answered ${answer.statusCode} without PAYMENT-REQUIRED`);
  return makePayments(JSON.parse(Buffer.from(header, 'base64').toString()) as PaymentRequired, requests);
}

const MCP_HEADERS = {
  ...JSON_TYPE,
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2025-11-25',
};

/** An answer may come as a stream of one event. */
const messageIn = (text: string): string => /^data: (\{.*)$/m.exec(text)?.[1] ?? text;

function askTool(pool: Pool, { tool: name, body }: LoadJob, meta: object = {}) {
  const params = { name, arguments: JSON.parse(body), _meta: meta };
  const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  return pool.request({ method: 'POST', path: '/mcp', body: message, headers: MCP_HEADERS });
}

/** Like `call`, as a tool: a call that failed is answered with 200, too. */
async function callTool(pool: Pool, job: LoadJob, payment = ''): Promise<void> {
  const meta = { 'x402/payment': JSON.parse(Buffer.from(payment, 'base64').toString()) };
  const answer = await askTool(pool, job, meta);
  const text = await answer.body.text();
  if (answer.statusCode === 200 && text.includes('"x402/payment-response":{"success":true')) return;
  throw new Error(`${job.tool} answered ${answer.statusCode}: ${text.slice(0, 500)}`);
}

async function call(pool: Pool, { path, body, expects }: LoadJob, payment: string | undefined): Promise<void> {
  const headers = payment === undefined ? JSON_TYPE : { ...JSON_TYPE, 'payment-signature': payment };
  const answer = await pool.request({ method: 'POST', path, body, headers });
  if (answer.statusCode === expects) {
    await answer.body.dump();
    return;
  }
  throw new Error(`${path} answered ${answer.statusCode}, not ${expects}: ${(await answer.body.text()).slice(0, 500)}`);
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
        await (job.tool === undefined ? call(pool, job, payment) : callTool(pool, job, payment));
        requests += 1;
      }
    };
    await Promise.all(Array.from({ length: job.callers }, caller));
    return { requests, milliseconds: performance.now() - startedAt };
  } finally {
    await pool.destroy();
  }
}

async function timeCall(pool: Pool, url: string, headers: Readonly<Record<string, string>>, body: string) {
  const startedAt = performance.now();
  const { pathname: path } = new URL(url);
  const answer = await pool.request({ method: 'POST', path, body, headers: { ...JSON_TYPE, ...headers } });
  let firstByte: number | undefined;
  let text = '';
  for await (const bytes of answer.body) {
    firstByte ??= performance.now() - startedAt;
    text += bytes;
  }
  if (answer.statusCode !== 200) throw new Error(`${url} answered ${answer.statusCode}: ${text.slice(0, 500)}`);
  return { firstByte: firstByte ?? Number.NaN, whole: performance.now() - startedAt };
}

async function time({ targets, body, times }: TimingJob): Promise<TimingResult> {
  const timed = targets.map(({ url, headers }) => ({
    url,
    headers,
    pool: new Pool(new URL(url).origin, { connections: 1 }),
    firstBytes: [] as number[],
    wholes: [] as number[],
  }));
  try {
    for (let round = 0; round < times; round += 1) {
      for (const { pool, url, headers, firstBytes, wholes } of timed) {
        const { firstByte, whole } = await timeCall(pool, url, headers, body);
        firstBytes.push(firstByte);
        wholes.push(whole);
      }
    }
    return timed.map(({ firstBytes, wholes }) => ({ firstByte: median(firstBytes), whole: median(wholes) }));
  } finally {
    await Promise.all(timed.map(({ pool }) => pool.destroy()));
  }
}

const send = (answer: LoadAnswer<LoadResult | TimingResult>): void => void process.send?.(answer);

process.on('message', (job: LoadJob | TimingJob) => {
  ('targets' in job ? time(job) : run(job)).then(
    (result) => send({ result }),
    (error: unknown) => send({ problem: error instanceof Error ? error.message : String(error) }),
  );
});

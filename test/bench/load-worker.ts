/** The process behind `startLoad`. */
import { Pool } from 'undici';
import { type ChannelPayer, openChannelPayers } from './channel-payers.ts';
import type { LoadAnswer, LoadJob, LoadResult } from './load.ts';
import { makeCredentials, makePayments, type PaymentRequired, signPayments } from './payments.ts';
import { percentile } from './percentile.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const MCP_HEADERS = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' };
/** A tool call that failed is answered with 200, too. */
const MCP_PAID = '"x402/payment-response":{"success":true';

interface Call {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

function toolCall({ tool: name, body }: LoadJob, payment?: string): Call {
  const meta = payment && { 'x402/payment': JSON.parse(Buffer.from(payment, 'base64').toString()) };
  const params = { name, arguments: JSON.parse(body), ...(meta && { _meta: meta }) };
  const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  return { path: '/mcp', headers: MCP_HEADERS, body: message };
}

async function send(pool: Pool, { path, headers, body }: Call) {
  return await pool.request({ method: 'POST', path, body, headers: { ...JSON_TYPE, ...headers } });
}

/** An answer of MCP may come as a stream of one event. */
const messageIn = (text: string): string => /^data: (\{.*)$/m.exec(text)?.[1] ?? text;

async function unpaidTool(pool: Pool, job: LoadJob): Promise<PaymentRequired> {
  const answer = await send(pool, toolCall(job));
  return JSON.parse(messageIn(await answer.body.text())).result.structuredContent;
}

async function challengeHeader(pool: Pool, { path, body, offered = body }: LoadJob, name: string): Promise<string> {
  const answer = await send(pool, { path, headers: {}, body: offered });
  await answer.body.dump();
  const value = answer.headers[name];
  if (value !== undefined) return [value].flat().join(', ');
  throw new Error(`${path} answered ${answer.statusCode} without ${name}`);
}

const decoded = (header: string): PaymentRequired => JSON.parse(Buffer.from(header, 'base64').toString());

/** Bought before the clock runs: a caller's next call, with its payment; undefined: there is none left. */
async function prepare(pool: Pool, job: LoadJob): Promise<(caller: number) => Call | undefined> {
  const { path, headers = {}, body, payment, callers } = job;
  const count = job.replays ? 1 : job.requests;
  const payers = job.strangers ? 'strangers' : callers;
  /** Each caller has its own: what is prepared in turns is taken in turns. */
  const withNext = (proofs: readonly string[], call: (proof: string) => Call) => {
    const taken = Array.from({ length: callers }, () => 0);
    return (caller: number): Call | undefined => {
      const before = taken[caller] ?? 0;
      taken[caller] = before + 1;
      const proof = proofs[job.replays ? 0 : caller + before * callers];
      return proof === undefined ? undefined : call(proof);
    };
  };
  if (payment === 'mcp') {
    const proofs = makePayments(await unpaidTool(pool, job), count, payers);
    return withNext(proofs, (proof) => toolCall(job, proof));
  }
  if (payment === 'x402') {
    const required = decoded(await challengeHeader(pool, job, 'payment-required'));
    const proofs = job.wallets ? signPayments(required, count, job.wallets) : makePayments(required, count, payers);
    return withNext(proofs, (proof) => ({ path, body, headers: { ...headers, 'payment-signature': proof } }));
  }
  if (payment === 'mpp') {
    const proofs = await makeCredentials(await challengeHeader(pool, job, 'www-authenticate'), count);
    return withNext(proofs, (proof) => ({ path, body, headers: { ...headers, authorization: proof } }));
  }
  if (payment === 'channel') {
    const required = decoded(await challengeHeader(pool, job, 'payment-required'));
    const deposit = async (proof: string) => {
      await time(pool, { path, body, headers: { ...headers, 'payment-signature': proof } }, job);
    };
    const payers = await channelsOf(job, () => openChannelPayers(job.wallets ?? [], required, deposit));
    const each = Math.ceil(count / payers.length);
    for (const payer of payers) payer.sign(each);
    return (caller) => ({
      path,
      body,
      headers: { ...headers, 'payment-signature': payers[caller % payers.length]?.next() ?? '' },
    });
  }
  return () => ({ path, headers, body });
}

/** By gateway: a channel is good for many rounds. */
const channels = new Map<string, Promise<readonly ChannelPayer[]>>();

function channelsOf({ urls }: LoadJob, open: () => Promise<readonly ChannelPayer[]>): Promise<readonly ChannelPayer[]> {
  const [url = ''] = urls;
  const known = channels.get(url) ?? open();
  channels.set(url, known);
  return known;
}

/** Milliseconds. Without a stream for each answer, which would take the callers as long as a fast server takes to answer. */
function time(pool: Pool, { path, headers, body }: Call, { expects, payment, until }: LoadJob): Promise<number> {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    let status = 0;
    let firstByte: number | undefined;
    const parts: Buffer[] = [];
    const text = () => Buffer.concat(parts).toString();
    pool.dispatch(
      { method: 'POST', path, body, headers: { ...JSON_TYPE, ...headers } },
      {
        onRequestStart() {},
        onResponseStart(_, statusCode) {
          status = statusCode;
        },
        onResponseData(_, bytes) {
          firstByte ??= performance.now() - startedAt;
          parts.push(bytes);
        },
        onResponseEnd() {
          const lastByte = performance.now() - startedAt;
          if (status !== expects || (payment === 'mcp' && !text().includes(MCP_PAID))) {
            reject(new Error(`${path} answered ${status} instead of ${expects}: ${text().slice(0, 500)}`));
          } else resolve(until === 'first byte' ? (firstByte ?? lastByte) : lastByte);
        },
        onResponseError: (_, error) => reject(error),
      },
    );
  });
}

async function run(job: LoadJob): Promise<LoadResult> {
  const connections = Math.ceil(job.callers / job.urls.length);
  const pools = job.urls.map((url) => new Pool(url, { connections, pipelining: 1 }));
  const poolOf = (caller: number): Pool => {
    const pool = pools[caller % pools.length];
    if (!pool) throw new Error('a job names a server');
    return pool;
  };
  try {
    const callTo = await prepare(poolOf(0), job);
    // A payment is replayed once it has been settled.
    const first = job.replays && callTo(0);
    if (first) await time(poolOf(0), first, job);
    const times: number[] = [];
    const startedAt = performance.now();
    const endsAt = startedAt + job.milliseconds;
    let asked = 0;
    const caller = async (number: number) => {
      while (asked < job.requests && performance.now() < endsAt) {
        const call = callTo(number);
        if (!call) return;
        asked += 1;
        times.push(await time(poolOf(number), call, job));
      }
    };
    await Promise.all(Array.from({ length: job.callers }, (_, number) => caller(number)));
    const milliseconds = performance.now() - startedAt;
    return { requests: times.length, milliseconds, p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
  } finally {
    await Promise.all(pools.map((pool) => pool.destroy()));
  }
}

const answer = (message: LoadAnswer): void => void process.send?.(message);

process.on('message', (job: LoadJob) => {
  run(job).then(
    (result) => answer({ result }),
    (error: unknown) => answer({ problem: error instanceof Error ? error.message : String(error) }),
  );
});

/** The process behind `startLoad`. */
import { type Call, type Caller, openCaller } from './caller.ts';
import { type ChannelPayer, openChannelPayers } from './channel-payers.ts';
import type { LoadAnswer, LoadJob, LoadResult } from './load.ts';
import { makeCredentials, makePayments, type PaymentRequired, signPayments } from './payments.ts';
import { percentile } from './percentile.ts';

const MCP_HEADERS = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' };
/** A tool call that failed is answered with 200, too. */
const MCP_PAID = '"x402/payment-response":{"success":true';

function toolCall({ tool: name, body }: LoadJob, payment?: string): Call {
  const meta = payment && { 'x402/payment': JSON.parse(Buffer.from(payment, 'base64').toString()) };
  const params = { name, arguments: JSON.parse(body), ...(meta && { _meta: meta }) };
  const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  return { path: '/mcp', headers: MCP_HEADERS, body: message };
}

/** Before the clock runs. */
async function offered(origin: string, { path, headers, body }: Call): Promise<Response> {
  const type = { 'content-type': 'application/json' };
  return await fetch(origin + path, { method: 'POST', body, headers: { ...type, ...headers } });
}

/** An answer of MCP may come as a stream of one event. */
const messageIn = (text: string): string => /^data: (\{.*)$/m.exec(text)?.[1] ?? text;

async function unpaidTool(origin: string, job: LoadJob): Promise<PaymentRequired> {
  const answer = await offered(origin, toolCall(job));
  return JSON.parse(messageIn(await answer.text())).result.structuredContent;
}

async function challengeHeader(origin: string, job: LoadJob, name: string): Promise<string> {
  const { path, body } = job;
  const answer = await offered(origin, { path, headers: {}, body: job.offered ?? body });
  await answer.arrayBuffer();
  const value = answer.headers.get(name);
  if (value !== null) return value;
  throw new Error(`${path} answered ${answer.status} without ${name}`);
}

const decoded = (header: string): PaymentRequired => JSON.parse(Buffer.from(header, 'base64').toString());

/** Bought before the clock runs: a caller's next call, with its payment; undefined: there is none left. */
async function prepare(origin: string, job: LoadJob): Promise<(caller: number) => Call | undefined> {
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
    const proofs = makePayments(await unpaidTool(origin, job), count, payers);
    return withNext(proofs, (proof) => toolCall(job, proof));
  }
  if (payment === 'x402') {
    const required = decoded(await challengeHeader(origin, job, 'payment-required'));
    const proofs = job.wallets ? signPayments(required, count, job.wallets) : makePayments(required, count, payers);
    return withNext(proofs, (proof) => ({ path, body, headers: { ...headers, 'payment-signature': proof } }));
  }
  if (payment === 'mpp') {
    const proofs = await makeCredentials(await challengeHeader(origin, job, 'www-authenticate'), count);
    return withNext(proofs, (proof) => ({ path, body, headers: { ...headers, authorization: proof } }));
  }
  if (payment === 'channel') {
    const required = decoded(await challengeHeader(origin, job, 'payment-required'));
    const deposit = async (proof: string) => {
      const answer = await offered(origin, { path, body, headers: { ...headers, 'payment-signature': proof } });
      if (!answer.ok) throw new Error(`a deposit was answered ${answer.status}: ${await answer.text()}`);
      await answer.arrayBuffer();
    };
    const payers = await channelsOf(job, () => openChannelPayers(job.wallets ?? [], required, deposit));
    const each = Math.ceil(count / payers.length);
    for (const payer of payers) payer.sign(each);
    return (number) => ({
      path,
      body,
      headers: { ...headers, 'payment-signature': payers[number % payers.length]?.next() ?? '' },
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

/** Milliseconds. */
async function time(caller: Caller, call: Call, { expects, payment, until }: LoadJob): Promise<number> {
  const { status, text, firstByte, lastByte } = await caller.ask(call);
  if (status !== expects || (payment === 'mcp' && !text().includes(MCP_PAID))) {
    throw new Error(`${call.path} answered ${status} instead of ${expects}: ${text().slice(0, 500)}`);
  }
  return until === 'first byte' ? firstByte : lastByte;
}

async function run(job: LoadJob): Promise<LoadResult> {
  const originOf = (number: number): string => {
    const origin = job.urls[number % job.urls.length];
    if (origin === undefined) throw new Error('a job names a server');
    return origin;
  };
  const callOf = await prepare(originOf(0), job);
  const callers = await Promise.all(Array.from({ length: job.callers }, (_, number) => openCaller(originOf(number))));
  try {
    // A payment is replayed once it has been settled.
    const settled = job.replays && callOf(0);
    if (settled && callers[0]) await time(callers[0], settled, job);
    const times: number[] = [];
    const startedAt = performance.now();
    const endsAt = startedAt + job.milliseconds;
    let asked = 0;
    const keepAsking = async (caller: Caller, number: number) => {
      while (asked < job.requests && performance.now() < endsAt) {
        const call = callOf(number);
        if (!call) return;
        asked += 1;
        times.push(await time(caller, call, job));
      }
    };
    await Promise.all(callers.map(keepAsking));
    const milliseconds = performance.now() - startedAt;
    return { requests: times.length, milliseconds, p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
  } finally {
    for (const caller of callers) caller.close();
  }
}

const answer = (message: LoadAnswer): void => void process.send?.(message);

process.on('message', (job: LoadJob) => {
  run(job).then(
    (result) => answer({ result }),
    (error: unknown) => answer({ problem: error instanceof Error ? error.message : String(error) }),
  );
});

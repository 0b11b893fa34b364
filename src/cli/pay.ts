/** `npm run pay`: one paid call from the sandbox's wallet, printed step by step. */
import './own-fetch.ts';
import './broken-pipe.ts';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { TooLong } from '../client/bounded.ts';
import { openPatience } from '../client/patience.ts';
import { isOpen, isOwnCode, readProblem } from '../client/problem.ts';
import { reasonOf } from '../client/purchase.ts';
import { linesWithoutControls } from '../control-characters.ts';
import { quoted } from '../discovery/shell.ts';
import { asJsonObject } from '../json.ts';
import { type Money, toDecimal } from '../money.ts';
import { queryOf } from '../query-of.ts';
import { type Payer, type PayerModule, PayProblem, type SandboxState } from '../rails/paying-client.ts';
import { boundedFetch } from './bounded-fetch.ts';
import { UsageProblem } from './command-line.ts';
import { type PayArguments, readArguments } from './pay/arguments.ts';

interface Timed<Value> {
  readonly value: Value;
  readonly ms: number;
}

async function timed<Value>(step: () => Promise<Value>): Promise<Timed<Value>> {
  const startedAt = performance.now();
  const value = await step();
  return { value, ms: performance.now() - startedAt };
}

function line(name: string, text: string, ms?: number): void {
  const time = ms === undefined ? '' : `  (${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms)`;
  // What a gateway says may hold anything.
  process.stdout.write(`${name.padEnd(9)}${linesWithoutControls(text)}${time}\n`);
}

interface Target {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly body: string | undefined;
}

const initOf = ({ method, body }: Target, headers: Record<string, string>) =>
  method === 'GET'
    ? { method, headers }
    : { method, headers: { 'content-type': 'application/json', ...headers }, body: body ?? '{}' };

const call = (target: Target, headers: Record<string, string> = {}): Promise<Response> =>
  boundedFetch(target.url, initOf(target, headers));

/**
 * A command that sends the same call again, which this one would pay for anew. It reads a file that its owner alone can read: what
 * was signed is shown to nobody. Source: curl(1), `--config`.
 */
function kept(target: Target, payment: Record<string, string>): string {
  const { headers, body } = initOf(target, payment);
  const options = [
    ['url', target.url],
    ...Object.entries(headers).map(([name, value]) => ['header', `${name}: ${value}`]),
    ...(body === undefined ? [] : [['data-raw', body]]),
  ].map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
  const file = join(mkdtempSync(join(tmpdir(), 'turnpike-')), 'payment.curl');
  writeFileSync(file, `${['globoff', ...options].join('\n')}\n`, { mode: 0o600 });
  return `curl --config ${quoted(file)}`;
}

/** Attempts after the first. */
const REPEATS = 3;

/** Sends a payment, and the very same again where its answer was lost, or may come later. */
async function callPaid(target: Target, headers: Record<string, string>, amount: Money): Promise<Response> {
  const patience = openPatience(REPEATS);
  for (let isFirst = true; ; isFirst = false) {
    let lost: string;
    let pauseMs: number | undefined;
    try {
      const answer = await call(target, headers);
      const whole = new Response(await answer.arrayBuffer(), answer);
      if (whole.ok) return whole;
      const said = await readProblem(whole.clone());
      if (whole.status >= 500 && !isOwnCode(said.code)) throw new Error(`a proxy answered ${whole.status}`);
      if (!isOpen(said.code, isFirst)) return whole;
      pauseMs = patience.pauseAfter(said);
      lost = pauseMs === undefined ? (await explain(whole)).message : `status ${whole.status}`;
    } catch (error) {
      lost = `no answer came (${reasonOf(error)})`;
      // It would be as long again.
      pauseMs = error instanceof TooLong ? undefined : patience.pauseAfter();
    }
    if (pauseMs === undefined) {
      const signed = `${toDecimal(amount)} USD was signed, and may have been charged`;
      const again = `the same payment is charged once at most, and sent again with\n${kept(target, headers)}`;
      throw new PayProblem(`${lost}: ${signed}; ${again}`);
    }
    line('note', `${lost}: the same payment is sent again`);
    await delay(pauseMs);
  }
}

/** The target where the path takes only the other method: what was to be the body goes into the query of a GET. */
function otherMethod({ url, method, body }: Target): Target {
  if (method === 'GET' || body === undefined) return { url, method: 'POST', body };
  const query = queryOf(asJsonObject(JSON.parse(body)));
  return { url: query === '' ? url : `${url}${url.includes('?') ? '&' : '?'}${query}`, method: 'GET', body: undefined };
}

/** A call without a payment, and its answer whole. */
async function callUnpaid(target: Target): Promise<Response> {
  try {
    const answer = await call(target);
    const text = await answer.text();
    return new Response(text === '' ? null : text, answer);
  } catch (error) {
    throw new PayProblem(`no price came (${reasonOf(error)}): nothing was signed, and nothing paid; run it again`);
  }
}

/** Without a body it is a GET, unless the path takes only the other method. */
async function quote({ path, body, url }: PayArguments): Promise<{ target: Target; answer: Response }> {
  const target: Target = { url: url + path, method: body === undefined ? 'GET' : 'POST', body };
  const answer = await callUnpaid(target);
  if (answer.status !== 405) return { target, answer };
  const other = otherMethod(target);
  return { target: other, answer: await callUnpaid(other) };
}

async function readSandbox(url: string): Promise<SandboxState> {
  let answer: Response;
  try {
    answer = await boundedFetch(`${url}/sandbox`);
  } catch {
    throw new PayProblem(`nothing answers at ${url}: start the gateway with \`npm start\`, or name another with --url`);
  }
  if (answer.ok) return (await answer.json()) as SandboxState;
  throw new PayProblem(`${url} is not a sandbox: this command pays from the sandbox's wallet and knows no other`);
}

/** The client's libraries are loaded for the protocol that is used. */
async function openPayer({ protocol, network, scheme }: PayArguments, sandbox: SandboxState): Promise<Payer> {
  const { openPayer }: PayerModule = await import(`../rails/${protocol}/payer.ts`);
  return openPayer(sandbox, network, scheme);
}

/** Throws PayProblem unless the call is cheap enough or a person agrees to its price. */
async function agree({ max, yes }: PayArguments, amount: Money): Promise<void> {
  if (yes || amount <= max) return;
  const price = `this call costs ${toDecimal(amount)} USD, more than --max ${toDecimal(max)}`;
  if (!process.stdin.isTTY) throw new PayProblem(`${price}: nothing was paid; raise --max, or say --yes`);
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const reply = await terminal.question(`${price}. Pay it? [y/N] `);
  terminal.close();
  if (!/^y(es)?$/i.test(reply.trim())) throw new PayProblem('nothing was paid');
}

async function explain(answer: Response): Promise<PayProblem> {
  const text = await answer.text();
  return new PayProblem(`the gateway answered ${answer.status}: ${text.slice(0, 2000)}`);
}

function refuseInvalid(body: unknown): void {
  const { invalidParams } = body as { invalidParams?: { path: string; message: string; expected?: string }[] };
  if (!invalidParams) return;
  const faults = invalidParams.map(
    ({ path, message, expected }) => `  ${path} ${message}${expected ? `: ${expected}` : ''}`,
  );
  throw new PayProblem(`the request is not valid, so nothing was paid:\n${faults.join('\n')}`);
}

async function pay(payArguments: PayArguments): Promise<void> {
  const sandbox = await readSandbox(payArguments.url);
  const payer = await openPayer(payArguments, sandbox);

  const unpaid = await timed(() => quote(payArguments));
  const { target, answer } = unpaid.value;
  if (answer.ok) {
    line('quote', 'nothing, it costs 0 USD', unpaid.ms);
    return line('result', await resultOf(answer));
  }
  if (answer.status !== 402) throw await explain(answer);
  const body: unknown = await answer.json();
  refuseInvalid(body);
  const { amount, payable, payment } = payer.offer(answer, body);
  line('quote', `${toDecimal(amount)} USD, payable on ${payable.join(', ')}`, unpaid.ms);
  await agree(payArguments, amount);

  const send = async () => {
    const signed = await timed(() => payer.sign(answer));
    line('payment', payment, signed.ms);
    return timed(() => callPaid(target, signed.value, amount));
  };
  let paid = await send();
  if (paid.value.status === 402 && (await payer.corrected?.(paid.value.clone()))) paid = await send();
  if (!paid.value.ok) throw await explain(paid.value);
  line('receipt', payer.receipt(paid.value), paid.ms);
  if (paid.value.headers.get('idempotency-replayed') === 'true') {
    line('note', 'this is the answer of an earlier call with the same request: nothing was charged for it again');
  }
  line('result', await resultOf(paid.value));
}

/** JSON is laid out; a stream is shown as it came. */
async function resultOf(answer: Response): Promise<string> {
  const text = await answer.text();
  const isJson = /^application\/json\b/.test(answer.headers.get('content-type') ?? '');
  return isJson ? JSON.stringify(JSON.parse(text), null, 2) : text;
}

async function main(): Promise<void> {
  await pay(readArguments(process.argv.slice(2), process.env));
}

main().catch((error: unknown) => {
  const known = error instanceof PayProblem || error instanceof UsageProblem;
  const reason = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${linesWithoutControls(known ? reason : `the call failed: ${reason}`)}\n`);
  process.exitCode = 1;
});

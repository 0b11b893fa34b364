/** `npm run pay`: one paid call from the sandbox's wallet, told step by step. */
import { createInterface } from 'node:readline/promises';
import { type Money, toDecimal } from '../money.ts';
import { type PayArguments, readArguments, UsageProblem } from './pay/arguments.ts';
import { openWallet, type SandboxState } from './pay/wallet.ts';
import { call, quote, readChallenge, timed } from './pay/x402.ts';

/** What went wrong and what to do about it, for a person. */
class PayProblem extends Error {}

const line = (name: string, text: string, ms?: number): void => {
  const time = ms === undefined ? '' : `  (${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms)`;
  process.stdout.write(`${name.padEnd(9)}${text}${time}\n`);
};

async function readSandbox(url: string): Promise<SandboxState> {
  let answer: Response;
  try {
    answer = await fetch(`${url}/sandbox`);
  } catch {
    throw new PayProblem(`nothing answers at ${url}: start the gateway with \`npm start\`, or name another with --url`);
  }
  if (answer.ok) return (await answer.json()) as SandboxState;
  throw new PayProblem(`${url} is not a sandbox: this command pays from the sandbox's wallet and knows no other`);
}

async function agreed({ max, yes }: PayArguments, amount: Money): Promise<boolean> {
  if (yes || amount <= max) return true;
  const question = `This call costs ${toDecimal(amount)} USD, more than ${toDecimal(max)} (--max). Pay it? [y/N] `;
  if (!process.stdin.isTTY) {
    throw new PayProblem(
      `this call costs ${toDecimal(amount)} USD, more than --max ${toDecimal(max)}: nothing was paid`,
    );
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const reply = await terminal.question(question);
  terminal.close();
  return /^y(es)?$/i.test(reply.trim());
}

async function explain(answer: Response): Promise<string> {
  const text = await answer.text();
  return `the gateway answered ${answer.status}: ${text.slice(0, 2000)}`;
}

function networkWanted(sandbox: SandboxState, wanted: string | undefined): string | undefined {
  if (wanted === undefined || wanted.includes(':')) return wanted;
  const found = sandbox.evm[wanted]?.caip2 ?? (wanted === 'chain-a' ? sandbox.solana?.caip2 : undefined);
  const known = [...(sandbox.solana ? ['chain-a'] : []), ...Object.keys(sandbox.evm)];
  if (!found) throw new PayProblem(`--network ${wanted} is not a network of this sandbox: it has ${known.join(', ')}`);
  return found;
}

async function payX402(payArguments: PayArguments, sandbox: SandboxState): Promise<void> {
  const wanted = networkWanted(sandbox, payArguments.network);
  const client = await openWallet(sandbox, wanted);
  const unpaid = await timed(() => quote(payArguments));
  const { target, answer } = unpaid.value;
  if (answer.status !== 402) throw new PayProblem(await explain(answer));
  const body = (await answer.json()) as { invalidParams?: { path: string; message: string; expected?: string }[] };
  if (body.invalidParams) {
    const faults = body.invalidParams.map(
      ({ path, message, expected }) => `  ${path} ${message}${expected ? `: ${expected}` : ''}`,
    );
    throw new PayProblem(`the request is not valid, so nothing was paid:\n${faults.join('\n')}`);
  }
  const challenge = readChallenge(client, answer, body);
  const networks = new Map(Object.entries(sandbox.evm).map(([id, { caip2 }]) => [caip2, id]));
  if (sandbox.solana) networks.set(sandbox.solana.caip2, 'chain-a');
  const offered = [...new Set(challenge.accepts.map(({ network }) => networks.get(network) ?? network))];
  const chosen = challenge.accepts.find(({ network }) => wanted === undefined || network === wanted);
  if (!chosen) throw new PayProblem(`this path is paid on ${offered.join(', ')}, not on ${payArguments.network}`);
  const amount = BigInt(chosen.amount);
  line('quote', `${toDecimal(amount)} USD, payable on ${offered.join(', ')}`, unpaid.ms);
  if (!(await agreed(payArguments, amount))) throw new PayProblem('nothing was paid');

  const signed = await timed(() => client.createPaymentPayload(challenge));
  const network = networks.get(chosen.network) ?? chosen.network;
  line('payment', `${chosen.amount} atomic units of ${chosen.asset} to ${chosen.payTo} on ${network}`, signed.ms);

  const paid = await timed(() => call(target, client.encodePaymentSignatureHeader(signed.value)));
  if (!paid.value.ok) throw new PayProblem(await explain(paid.value));
  const receipt = client.getPaymentSettleResponse((name) => paid.value.headers.get(name));
  line('receipt', `transaction ${receipt.transaction} on ${receipt.network}`, paid.ms);
  line('result', JSON.stringify(await paid.value.json(), null, 2));
}

async function main(): Promise<void> {
  const payArguments = readArguments(process.argv.slice(2), process.env);
  const sandbox = await readSandbox(payArguments.url);
  await payX402(payArguments, sandbox);
}

main().catch((error: unknown) => {
  const known = error instanceof PayProblem || error instanceof UsageProblem;
  process.stderr.write(
    `${known ? error.message : `the call failed: ${error instanceof Error ? error.message : error}`}\n`,
  );
  process.exitCode = 1;
});

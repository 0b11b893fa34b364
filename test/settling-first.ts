/** What tests of settling first share: what a challenge says of it, and whether a payment does it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { type PaidCall, request, sendProof, signProof } from './clients.ts';
import { copySelling } from './few-endpoints.ts';
import type { Gateway } from './gateway.ts';

const PRICE = 60_000n;
export const RULES = {
  contracts: true,
  failedSettlements: 2,
  unprovenAbove: '0.5',
  unprovenTogetherAbove: '2',
  unsettledAbove: '2',
};

/**
 * The shipped catalogue with another exposure, and pictures in a time that every payment outlives. It sells nothing but these and
 * the endpoints that are named: a gateway has read it far sooner.
 */
export function picturesWith(t: Test, exposure: string, ...others: readonly string[]): string {
  const directory = join(t.testdir({ catalogue: {} }), 'catalogue');
  copySelling(['image/family-e-2', ...others], directory);
  return withExposure(directory, exposure);
}

function withExposure(directory: string, exposure: string): string {
  const service = join(directory, 'service.yaml');
  writeFileSync(service, `${readFileSync(service, 'utf8')}\nexposure: ${exposure}\n`);
  const endpoint = join(directory, 'endpoints/image/family-e-2.yaml');
  writeFileSync(endpoint, readFileSync(endpoint, 'utf8').replace(/^deadline: .*$/m, 'deadline: 18s'));
  return directory;
}

let made = 0;
export const fresh = (gateway: Gateway, prefix = ''): PaidCall => {
  made += 1;
  return request(gateway, `${prefix}/image/family-e-2`, { prompt: `a lighthouse, number ${made}` });
};

interface Terms {
  readonly accepts: { readonly scheme: string; readonly network: string; readonly extra: { paymentFlow?: string } }[];
  readonly upfrontFor: unknown;
}

/** What version 2's header says of a 402, and version 1's body. */
export async function termsOf(unpaid: Response): Promise<{ v2: Terms; v1: Terms; headerBytes: number; error: string }> {
  const header = unpaid.headers.get('payment-required') ?? '';
  const { accepts, extensions, error } = JSON.parse(Buffer.from(header, 'base64').toString());
  const body = (await unpaid.json()) as Terms;
  const { upfrontFor } = extensions.challenge.info;
  return { v2: { accepts, upfrontFor }, v1: body, headerBytes: header.length, error };
}
export const ask = ({ url, init }: PaidCall) => fetch(url, init);
export const flows = ({ accepts }: Terms) => accepts.map(({ scheme, extra }) => `${scheme} ${extra.paymentFlow}`);

interface MppDetails {
  readonly paymentFlow: string;
  readonly upfrontFor?: object;
}
export async function mppTerms(call: PaidCall): Promise<Record<string, MppDetails>> {
  const { Challenge } = await import('mppx');
  const challenges = Challenge.fromResponseList(await ask(call));
  return Object.fromEntries(
    challenges.map(({ method, request }) => [method, (request as { methodDetails: MppDetails }).methodDetails]),
  );
}
export async function signMpp(gateway: Gateway, network: string, call: PaidCall): Promise<Record<string, string>> {
  // Half of all modules that a test loads, where it pays by MPP.
  const { openPayer } = await import('../src/rails/mpp/payer.ts');
  return openPayer(gateway.state, network).sign(await ask(call));
}

export const kindOf = async (answer: Response): Promise<string> =>
  String(((await answer.clone().json()) as { type: unknown }).type).replace(/^.*\//, '');
const codeOf = async (answer: Response): Promise<string> =>
  ((await answer.json()) as { error: { code: string } }).error.code;

/** The work is done, and its settlement fails. */
export async function lose(t: Test, gateway: Gateway): Promise<void> {
  await gateway.fault({ settlement: 'chain-c', fault: 'refuse' });
  const call = fresh(gateway);
  t.equal((await sendProof(call, await signProof(gateway, 'chain-c', call))).status, 402, 'the result is withheld');
}

/** Another instance over the same store: it has measured the losses when it begins. */
export const measured = async (gateway: Gateway): Promise<Gateway> => ({
  ...gateway,
  url: await gateway.startAnother(),
});

/** Whether a payment settles before the work: an upstream that fails charges it then, and only then. */
export async function settlesFirst(t: Test, gateway: Gateway, call: PaidCall, proof: Record<string, string>) {
  await gateway.fault({ upstream: 'predictions', fault: '500' });
  const earned = await gateway.earned('chain-c');
  const answer = await sendProof(call, proof);
  t.equal(answer.status, 500);
  const charged = (await gateway.earned('chain-c')) - earned;
  t.equal(await codeOf(answer), charged === 0n ? 'upstream_failed' : 'result_owed');
  return charged === PRICE;
}

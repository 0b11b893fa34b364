/** Real payments, changed a little before they are sent; and requests at the edges of their schemas, soundly paid. */
import * as fc from 'fast-check';
import type { Route } from '../../src/catalogue/types.ts';
import { asJsonObject } from '../../src/json.ts';
import { inHeader, offersOf, signPayload } from '../exact-offer.ts';
import { requestsFor } from '../soak/inputs.ts';
import { headerOf, jsonOf } from './answers.ts';
import { asCurl, type Call, JSON_TYPE, jsonBody } from './call.ts';
import { type Edit, edited, edits } from './edits.ts';
import { fewHeaders } from './odd-headers.ts';
import { type Probe, probe } from './probe.ts';
import { inText, type ProofKind, type ProofShelf, proofKinds } from './proofs.ts';
import { Violation } from './violation.ts';
import type { Watched } from './watched.ts';
import type { Answer } from './wire.ts';

/** Changes of a header as text, beside those of what it encodes. */
const DAMAGE: Readonly<Record<string, (text: string, at: number) => string>> = {
  none: (text) => text,
  cut: (text, at) => text.slice(0, at % (text.length + 1)),
  other: (text, at) =>
    text.slice(0, at % text.length) + String.fromCharCode(32 + (at % 95)) + text.slice((at % text.length) + 1),
  high: (text, at) => `${text.slice(0, at % text.length)}\xe9${text.slice((at % text.length) + 1)}`,
  twice: (text) => text + text,
  listed: (text) => `${text}, ${text}`,
  padded: (text) => `${text}==`,
};

interface Attempt {
  readonly kind: ProofKind;
  readonly changes: readonly Edit[];
  readonly damage: string;
  readonly at: number;
  readonly headers: Call['headers'];
  /** The same header once more. */
  readonly again: boolean;
}

/** What a receipt says was charged, in atomic units; undefined where the answer has none. */
function chargedIn(answer: Answer): bigint | undefined {
  if (headerOf(answer, 'idempotency-replayed') === 'true') return 0n;
  const x402 = headerOf(answer, 'payment-response') || headerOf(answer, 'x-payment-response');
  if (x402 === '') return undefined;
  const { success, amount } = JSON.parse(Buffer.from(x402, 'base64').toString());
  return success ? BigInt(amount) : 0n;
}

export function paymentsProbe(watched: Watched, shelf: ProofShelf): Probe {
  const { gateway } = watched;
  const attempts: fc.Arbitrary<Attempt> = fc.record({
    kind: fc.constantFrom(...proofKinds(gateway)),
    changes: fc.oneof({ weight: 6, arbitrary: edits }, { weight: 1, arbitrary: fc.constant([]) }),
    damage: fc.constantFrom('none', 'none', 'none', 'none', ...Object.keys(DAMAGE)),
    at: fc.nat(10_000),
    headers: fewHeaders,
    again: fc.integer({ min: 0, max: 9 }).map((number) => number === 0),
  });
  return probe('payments', attempts, async ({ kind, changes, damage, at, headers, again }) => {
    const proof = await shelf.take(kind);
    const text = inText(proof, edited(proof.value, changes));
    const shown = [proof.header, DAMAGE[damage]?.(text, at) ?? text] as const;
    const call: Call = { ...kind.call, headers: [...kind.call.headers, ...headers, shown, ...(again ? [shown] : [])] };
    const before = await gateway.earned(kind.network);
    const answer = await watched.send(call);
    const charged = (await gateway.earned(kind.network)) - before;
    if (charged > 0n || answer.status === 200) shelf.drop(kind);
    const due = answer.status === 200 ? (chargedIn(answer) ?? charged) : 0n;
    if (charged !== due) {
      const what = `${kind.name}: ${charged} charged, ${due} answered for, by a ${answer.status} ${answer.body.subarray(0, 200)}`;
      throw new Violation(what, `${asCurl(gateway.url, call)}\n${JSON.stringify({ changes, damage, at })}`);
    }
  });
}

/** Films and songs take longer to make, for the doubles, than all others together. */
const SLOW = ['video', 'audio'];
const FREE_REFUSALS = ['not_found', 'content_refused', 'unusable_reference', 'invalid_request', 'too_many_requests'];
const INPUTS = 30;
const NETWORK = 'chain-e';

/** On a network of its own, so that what it pays is not taken for a charge of what is changed. */
export function purchasesProbe(watched: Watched, all: readonly Route[], seed: number): Probe {
  const { gateway } = watched;
  const access = gateway.state.evm[NETWORK];
  const routes = all.filter(
    ({ networks, endpoint, methods }) =>
      networks.includes(NETWORK) && methods.includes('POST') && !SLOW.includes(endpoint.group),
  );
  const purchases = fc.constantFrom(
    ...routes.flatMap((route) => requestsFor(route.request, INPUTS, seed).map((input) => ({ route, input }))),
  );
  return probe('purchases', purchases, async ({ route, input }) => {
    const unpaid = await fetch(gateway.url + route.path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(input),
    });
    const offer = offersOf(unpaid).find(({ network }) => network === access?.caip2);
    await unpaid.arrayBuffer();
    if (!offer || !access) return;
    const proof = Object.entries(inHeader(await signPayload(offer, access.privateKey)));
    const call: Call = { method: 'POST', target: route.path, headers: [JSON_TYPE, ...proof], body: jsonBody(input) };
    const before = await gateway.earned(NETWORK);
    const answer = await watched.send(call);
    const charged = (await gateway.earned(NETWORK)) - before;
    const due = answer.status === 200 ? (chargedIn(answer) ?? -1n) : 0n;
    const shown = `a ${answer.status} ${answer.body.subarray(0, 300)}`;
    if (charged !== due)
      throw new Violation(`${charged} charged, ${due} answered for, by ${shown}`, asCurl(gateway.url, call));
    const { code } = asJsonObject(asJsonObject(jsonOf(answer)).error);
    if (answer.status !== 200 && !FREE_REFUSALS.includes(String(code)))
      throw new Violation(`a sound purchase is ${shown}`, asCurl(gateway.url, call));
  });
}

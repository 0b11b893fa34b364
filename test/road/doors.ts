/** The two transports by which everything is sold, as one interface: what holds at one has to hold at the other. */
import { Challenge, Credential } from 'mppx';
import { openPayer as openMppPayer } from '../../src/rails/mpp/payer.ts';
import { type Gateway, request, sendProof, signProof } from '../clients.ts';
import { callTool, signToolPayment, type ToolResult } from '../mcp/tool-client.ts';

/** How a call is paid. */
export interface Way {
  readonly rail: 'x402' | 'mpp';
  /** `tempo`, or a network's id. */
  readonly network: string;
}

/** What a door answered, in words that both have. */
export interface Said {
  readonly kind: 'answer' | 'challenge' | 'problem';
  readonly body: Record<string, unknown>;
  /** A problem's code. */
  readonly code: string | undefined;
  readonly invalidParams: readonly { readonly path: string }[] | undefined;
  /** Why a payment was refused, or what is asked for. */
  readonly detail: string;
  /** Dollars that a challenge asks for on the rail. */
  readonly price: number | undefined;
  readonly transaction: string | undefined;
  readonly isReplayed: boolean;
}

/** Good for one door only. */
export type Proof = Record<string, unknown>;

export interface Door {
  readonly name: string;
  /** `path` as it is over x402. */
  ask(way: Way, path: string, input: object, proof?: Proof): Promise<Said>;
  sign(way: Way, path: string, input: object): Promise<Proof>;
  /** The proof with its decoded payment changed. */
  changed(proof: Proof, change: (payment: Record<string, never>) => void): Proof;
}

const MILLION = 1_000_000;
const encode = (value: unknown, as: BufferEncoding) => Buffer.from(JSON.stringify(value)).toString(as);
const decode = (text: string) => JSON.parse(Buffer.from(text, 'base64').toString());

type Json = Record<string, never> & Record<string, unknown>;

const amountIn = (offers: readonly { amount: string }[] | undefined): number | undefined =>
  offers?.[0] && Number(offers[0].amount) / MILLION;

export function httpDoor(gateway: Gateway): Door {
  const callOf = ({ rail }: Way, path: string, input: object) =>
    request(gateway, rail === 'mpp' ? `/mpp${path}` : path, input);

  return {
    name: 'HTTP',
    async ask(way, path, input, proof = {}) {
      const answer = await sendProof(callOf(way, path, input), proof as Record<string, string>);
      const body = (await answer.clone().json()) as Json;
      const error = body.error as { code?: string; message?: string } | undefined;
      const receipt = answer.headers.get('payment-response') ?? answer.headers.get('payment-receipt');
      const asked = answer.status === 402 && way.rail === 'mpp' ? Challenge.fromResponseList(answer) : [];
      return {
        kind: answer.status === 200 ? 'answer' : answer.status === 402 ? 'challenge' : 'problem',
        body,
        code: error?.code,
        invalidParams: body.invalidParams,
        detail: String(body.detail ?? error?.message ?? ''),
        price: amountIn(body.offers) ?? amountIn(asked.map((each) => each.request as { amount: string })),
        transaction: receipt ? (decode(receipt).transaction ?? decode(receipt).reference) : undefined,
        isReplayed: answer.headers.has('idempotency-replayed'),
      };
    },
    async sign(way, path, input) {
      const call = callOf(way, path, input);
      if (way.rail === 'x402') return await signProof(gateway, way.network, call);
      const { authorization } = await openMppPayer(gateway.state, way.network).sign(await fetch(call.url, call.init));
      return { authorization };
    },
    changed(proof, change) {
      const [[name, value] = ['', '']] = Object.entries(proof as Record<string, string>);
      const payment = decode(value.replace(/^Payment /, ''));
      change(payment);
      return {
        [name]: name === 'authorization' ? `Payment ${encode(payment, 'base64url')}` : encode(payment, 'base64'),
      };
    },
  };
}

interface MppAsked {
  readonly challenges: Challenge.Challenge[];
  readonly problem: { readonly detail: string; readonly invalidParams?: Said['invalidParams'] };
}

const mppIn = ({ _meta }: ToolResult) => _meta?.['org.paymentauth/payment-required'] as MppAsked | undefined;

export function mcpDoor(gateway: Gateway): Door {
  const nameOf = (path: string) => path.slice(1).replaceAll('/', '_');

  return {
    name: 'MCP',
    async ask({ rail }, path, input, proof = {}) {
      const result = await callTool(gateway, nameOf(path), input, proof);
      const body = (result.structuredContent ?? {}) as Json;
      const error = body.error as { code?: string; message?: string } | string | undefined;
      const isChallenge = body.x402Version !== undefined;
      const overMpp = rail === 'mpp' ? mppIn(result) : undefined;
      const meta = (result._meta ?? {}) as Record<string, Record<string, string> | undefined>;
      const offers = overMpp ? overMpp.challenges.map((each) => each.request as { amount: string }) : body.accepts;
      return {
        kind: isChallenge ? 'challenge' : result.isError ? 'problem' : 'answer',
        body,
        code: typeof error === 'object' ? error.code : undefined,
        invalidParams: overMpp ? overMpp.problem.invalidParams : body.invalidParams,
        detail: overMpp?.problem.detail ?? (typeof error === 'object' ? String(error.message) : String(error ?? '')),
        price: isChallenge ? amountIn(offers) : undefined,
        transaction: meta['x402/payment-response']?.transaction || meta['org.paymentauth/receipt']?.reference,
        isReplayed: 'turnpike/replayed' in meta,
      };
    },
    async sign({ rail, network }, path, input) {
      const unpaid = await callTool(gateway, nameOf(path), input);
      if (rail === 'x402') return await signToolPayment(gateway, network, unpaid);
      const challenges = mppIn(unpaid)?.challenges ?? [];
      const headers = new Headers(
        challenges.map((each): [string, string] => ['www-authenticate', Challenge.serialize(each)]),
      );
      const { authorization = '' } = await openMppPayer(gateway.state, network).sign(
        new Response(null, { status: 402, headers }),
      );
      return { 'org.paymentauth/credential': Credential.deserialize(authorization) };
    },
    changed(proof, change) {
      const copy = structuredClone(proof);
      change(Object.values(copy)[0] as Record<string, never>);
      return copy;
    },
  };
}

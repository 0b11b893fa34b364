/** Real payments of every kind, signed by the clients that are published for it and not sent yet. */
import { openPayer as openMppPayer } from '../../src/rails/mpp/payer.ts';
import { type Gateway, request, signProof, signProofV1, signUpto } from '../clients.ts';
import { inHeader, offersOf, signPayload } from '../exact-offer.ts';
import { type Call, JSON_TYPE, jsonBody } from './call.ts';

export interface Proof {
  readonly header: string;
  /** Before the encoded part: `Payment `. */
  readonly prefix: string;
  /** What the rest of the header encodes. */
  readonly value: unknown;
  readonly encoding: 'base64' | 'base64url';
}

export interface ProofKind {
  readonly name: string;
  /** Where the money goes. */
  readonly network: string;
  /** What is bought. */
  readonly call: Call;
  sign(): Promise<Proof>;
}

const SEARCH = { path: '/chain-c-main/tokens-api/search', input: { q: 'usd' } };
const SEARCH_ON_SOLANA = { ...SEARCH, path: '/tokens-api/search' };
const CHAT = { path: '/llm/vendor5-k3', input: { prompt: 'Fog?', max_tokens: 20 } };
const TRENDING = { path: '/mpp/token/launchpad-trending', input: {} };

/** Payments of clients are good for half a minute at least; a chain forgets them sooner. */
const FRESH_MS = 10_000;

function proofIn(headers: Record<string, string>): Proof {
  const [[header, text] = ['', '']] = Object.entries(headers);
  const [, prefix = '', encoded = ''] = /^(\w+ )?(.*)$/.exec(text) ?? [];
  const encoding = prefix === '' ? 'base64' : 'base64url';
  return {
    header: header.toLowerCase(),
    prefix,
    value: JSON.parse(Buffer.from(encoded, encoding).toString()),
    encoding,
  };
}

export const inText = ({ prefix, encoding }: Proof, value: unknown): string =>
  prefix + Buffer.from(JSON.stringify(value) ?? '').toString(encoding);

export function proofKinds(gateway: Gateway): ProofKind[] {
  const kind = (
    name: string,
    network: string,
    { path, input }: { path: string; input: object },
    sign: (call: ReturnType<typeof request>) => Promise<Record<string, string>>,
  ): ProofKind => ({
    name,
    network,
    call: { method: 'POST', target: path, headers: [JSON_TYPE], body: jsonBody(input) },
    sign: async () => proofIn(await sign(request(gateway, path, input))),
  });
  const mpp =
    (network: string) =>
    async ({ url, init }: ReturnType<typeof request>) =>
      openMppPayer(gateway.state, network).sign(await fetch(url, init));
  return [
    kind('x402 v2, EIP-3009', 'chain-c', SEARCH, async ({ url, init }) => {
      const access = gateway.state.evm['chain-c'];
      const offer = offersOf(await fetch(url, init)).find(({ network }) => network === access?.caip2);
      if (!offer || !access) throw new Error('chain-c is not offered');
      return inHeader(await signPayload(offer, access.privateKey));
    }),
    kind('x402 v1, EIP-3009', 'chain-c', SEARCH, (call) => signProofV1(gateway, 'chain-c', call)),
    kind('x402 v2, Permit2 for upto', 'chain-c', CHAT, (call) => signUpto(gateway, 'chain-c', call)),
    kind('x402 v2, Solana', 'chain-a', SEARCH_ON_SOLANA, (call) => signProof(gateway, 'chain-a', call)),
    kind('x402 v1, Solana', 'chain-a', SEARCH_ON_SOLANA, (call) => signProofV1(gateway, 'chain-a', call)),
    kind('MPP, evm', 'chain-c', TRENDING, mpp('chain-c')),
    kind('MPP, tempo', 'tempo', TRENDING, mpp('tempo')),
  ];
}

/** A payment that is still good: the same again until it is used or old. */
export class ProofShelf {
  readonly #kept = new Map<ProofKind, { readonly proof: Proof; readonly until: number }>();
  signed = 0;

  async take(kind: ProofKind): Promise<Proof> {
    const kept = this.#kept.get(kind);
    if (kept && Date.now() < kept.until) return kept.proof;
    const proof = await kind.sign();
    this.signed += 1;
    this.#kept.set(kind, { proof, until: Date.now() + FRESH_MS });
    return proof;
  }

  drop(kind: ProofKind): void {
    this.#kept.delete(kind);
  }
}

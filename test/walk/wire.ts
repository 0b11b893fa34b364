/** What goes over the wire: requests, challenges, and the listing, read without the gateway's own types. */
import type { PaidCall } from '../clients.ts';
import type { Gateway } from '../gateway.ts';
import type { Fields } from './row.ts';

export interface InvalidParam {
  readonly path: string;
  readonly message: string;
}

export interface Offer {
  readonly scheme: string;
  readonly network: string;
  readonly amount: string;
  readonly asset: string;
  readonly payTo: string;
  readonly extra?: { readonly paymentFlow?: string };
}

/** An unpaid answer: the problem in its body, and the offers of version 2 from its header. */
export interface Unpaid {
  readonly status: number;
  readonly type: string | null;
  readonly problem: Readonly<Record<string, unknown>>;
  readonly invalidParams: readonly InvalidParam[];
  /** Those of the scheme `exact`. */
  readonly offers: readonly Offer[];
}

export function callOf(gateway: Gateway, method: string, path: string, body: Fields): PaidCall {
  if (method === 'GET') {
    const query = new URLSearchParams(
      Object.entries(body).map(([name, value]): [string, string] => [name, String(value)]),
    );
    return { url: `${gateway.url}${path}${query.size > 0 ? `?${query}` : ''}`, init: { method } };
  }
  const headers = { 'content-type': 'application/json' };
  return { url: gateway.url + path, init: { method, headers, body: JSON.stringify(body) } };
}

export const offersIn = (answer: Response): Offer[] => {
  const header = answer.headers.get('payment-required');
  const challenge = header === null ? { accepts: [] } : JSON.parse(Buffer.from(header, 'base64').toString());
  return challenge.accepts.filter(({ scheme }: Offer) => scheme === 'exact');
};

export async function ask({ url, init }: PaidCall): Promise<Unpaid> {
  const answer = await fetch(url, init);
  const problem = (await answer.json()) as Record<string, unknown> & { invalidParams?: InvalidParam[] };
  return {
    status: answer.status,
    type: answer.headers.get('content-type'),
    problem,
    invalidParams: problem.invalidParams ?? [],
    offers: offersIn(answer),
  };
}

export interface ListingPrice {
  readonly amount: string;
  readonly asset: string;
  readonly network: string;
  readonly paymentFlow?: string;
  readonly upfrontWhere?: object;
}

export interface Listing {
  readonly slug: string;
  readonly method: string;
  readonly description: string;
  readonly input_schema: {
    readonly properties?: Readonly<Record<string, { readonly default?: unknown }>>;
    readonly required?: string[];
  };
  readonly output_schema: object;
  readonly x402_version: string;
  readonly price: number;
  readonly minPrice?: number;
  readonly pricing: ListingPrice;
  readonly networks?: readonly ListingPrice[];
}

/** `/x402-resources` by path. */
export async function listings(gateway: Gateway): Promise<Map<string, Listing>> {
  const { resources } = (await (await fetch(`${gateway.url}/x402-resources`)).json()) as { resources: Listing[] };
  return new Map(resources.map((listing) => [`/${listing.slug}`, listing]));
}

/** Neutral ids of networks by their CAIP-2 ids. */
export function networkNames({ state }: Gateway): Map<string, string> {
  const names = new Map(Object.entries(state.evm).map(([id, { caip2 }]) => [caip2, id]));
  if (state.solana) names.set(state.solana.caip2, 'chain-a');
  return names;
}

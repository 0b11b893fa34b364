/**
 * What an MPP gateway asks for, and the published client that signs it: the method `evm` in a known asset, and no other.
 * Source: the Payment HTTP authentication scheme, draft 01.
 */
import { Challenge, Receipt } from 'mppx';
import { evm, Mppx } from 'mppx/client';
import { asJsonObject } from '../json.ts';
import type { Asset } from './asset.ts';
import { type Offer, readOffer } from './offers.ts';
import { type EvmSigner, guarded, type Signers } from './wallet.ts';

type Client = Parameters<typeof evm>[0];

/** One challenge as an offer; undefined for everything else. */
function offerOf(challenge: Challenge.Challenge, assets: readonly Asset[], signers: Signers): Offer | undefined {
  const { amount, currency, recipient, methodDetails } = asJsonObject(challenge.request);
  const { chainId, credentialTypes, splits } = asJsonObject(methodDetails);
  if (challenge.method !== 'evm' || challenge.intent !== 'charge' || splits !== undefined) return undefined;
  if (!Array.isArray(credentialTypes) || !credentialTypes.includes('authorization')) return undefined;
  const seconds = Math.ceil((Date.parse(challenge.expires ?? '') - Date.now()) / 1000);
  const given = {
    scheme: 'exact',
    network: `eip155:${chainId}`,
    amount,
    asset: currency,
    payTo: recipient,
    maxTimeoutSeconds: seconds,
  };
  const offer = readOffer(given, assets);
  // The client signs for as long as is asked: what is asked for longer than is ever signed is not payable.
  return offer && offer.seconds === seconds && signers.evm.has(offer.asset.id) ? offer : undefined;
}

export interface MppOffer {
  readonly offer: Offer;
  /** The header that pays it. Throws where what would be signed is not what is offered. */
  sign(): Promise<Record<string, string>>;
}

/** What these signers could pay of what a 402 asks for, in the gateway's order. */
export function mppOffers(unpaid: Response, assets: readonly Asset[], signers: Signers): MppOffer[] {
  return challengesOf(unpaid).flatMap((challenge) => {
    const offer = offerOf(challenge, assets, signers);
    const account = offer && signers.evm.get(offer.asset.id);
    if (!offer || !account) return [];
    return [{ offer, sign: () => sign(challenge, offer, account) }];
  });
}

function challengesOf(unpaid: Response): Challenge.Challenge[] {
  try {
    return Challenge.fromResponseList(unpaid);
  } catch {
    return [];
  }
}

async function sign(challenge: Challenge.Challenge, offer: Offer, account: EvmSigner): Promise<Record<string, string>> {
  const { asset } = offer;
  const method = evm({
    account: guarded(account, offer) as unknown as NonNullable<Client['account']>,
    ...(asset.domain && { authorization: asset.domain }),
    decimals: asset.decimals,
  });
  const client = Mppx.create({ polyfill: false, methods: [method] });
  // It signs for the first challenge that it knows how to: here there is one.
  const headers = { 'www-authenticate': Challenge.serialize(challenge) };
  return { authorization: await client.createCredential(new Response(null, { status: 402, headers })) };
}

/** The transaction that a receipt names; undefined where there is none. */
export function mppTransaction(answer: Response): string | undefined {
  try {
    return Receipt.fromResponse(answer).reference;
  } catch {
    return undefined;
  }
}

/** A payment as x402 clients send it. Source: x402 specifications, core versions 2 and 1, HTTP transport. */
import { createHash } from 'node:crypto';
import type { NetworkId } from '../../catalogue/types.ts';
import { type HoldTerms, readAuthCapture } from '../../payment/authorizations/auth-capture.ts';
import type { Authorization } from '../../payment/authorizations/authorization.ts';
import { readBatchSettlement } from '../../payment/authorizations/batch-settlement.ts';
import { readEip3009 } from '../../payment/authorizations/eip3009.ts';
import { readObject } from '../../payment/authorizations/fields.ts';
import { readPermit2 } from '../../payment/authorizations/permit2.ts';
import { readSolana } from '../../payment/authorizations/solana.ts';
import type { PayableNetworks } from '../../payment/networks.ts';
import type { Credential } from '../../payment/rail.ts';
import { Refusal } from '../../payment/refusal.ts';
import { requestDigest } from '../../payment/request-digest.ts';
import type { GatewayRequest } from '../../request/request.ts';
import { networkName, type PaymentPayload, schemeOf } from './wire.ts';

export interface X402Credential extends Credential {
  readonly payment: PaymentPayload;
  readonly authorization: Authorization;
  readonly network: NetworkId;
}

const KINDS = ['authorization', 'permit2Authorization', 'transaction'];

/** The scheme's own part of a payload. Exactly one: what is identified here must be what is settled. */
function readAuthorization({ payload, approval }: PaymentPayload): Authorization {
  const { authorization, permit2Authorization, transaction, signature } = payload;
  if (KINDS.filter((kind) => payload[kind] !== undefined).length > 1) {
    throw new Refusal('malformed-credential', `payload must carry one of ${KINDS.join(', ')}, not several`);
  }
  if (authorization !== undefined) {
    const at = 'payload.authorization';
    return readEip3009(readObject(authorization, at), signature, at);
  }
  if (permit2Authorization !== undefined) {
    return readPermit2(readObject(permit2Authorization, 'payload.permit2Authorization'), signature, approval);
  }
  if (transaction !== undefined) return readSolana(transaction);
  throw new Refusal(
    'malformed-credential',
    'payload must carry an authorization (EIP-3009), a permit2Authorization or a transaction (Solana)',
  );
}

/**
 * Tells the payer's own payment from one that somebody put together from the chain, which shows authorizations and
 * signatures once they are settled. The challenge's id never gets there.
 */
const fingerprintOf = ({ shown }: Authorization, challengeId: string | undefined): string =>
  createHash('sha256')
    .update(`${challengeId ?? ''}|${shown}`)
    .digest('hex');

const holdTerms = (payment: PaymentPayload): HoldTerms | undefined =>
  payment.x402Version === 2 && payment.accepted.hold ? { ...payment.accepted, ...payment.accepted.hold } : undefined;

/** Where nothing else is offered, the body shows networks that version 1 has no name for. */
function unknownNetwork(name: string, networks: Pick<PayableNetworks, 'named'>): Refusal {
  const reason = networks.named(2, name)
    ? `x402 version 1 knows no network ${name}: pay by version 2`
    : `the network ${name.slice(0, 60)} is not known here`;
  return new Refusal('verification-failed', reason);
}

/** Throws Refusal. */
export function readCredential(
  payment: PaymentPayload,
  networks: Pick<PayableNetworks, 'named'>,
  request: GatewayRequest,
): X402Credential {
  const name = networkName(payment);
  const network = networks.named(payment.x402Version, name);
  if (!network) throw unknownNetwork(name, networks);
  const hold = holdTerms(payment);
  const chainId = Number(network.caip2.split(':')[1]);
  if (schemeOf(payment) === 'batch-settlement') return channelCredential(payment, network, chainId, request);
  const authorization = hold ? readAuthCapture(payment.payload, hold, chainId) : readAuthorization(payment);
  return {
    id: authorization.identity(network.caip2, network.asset.address),
    fingerprint: fingerprintOf(authorization, payment.challengeId),
    isPrivate: payment.challengeId !== undefined,
    identifier: payment.identifier,
    payment,
    authorization,
    network: network.id,
  };
}

/** A voucher that bought nothing is tried again as it is, as often as its payer likes: there is no other for the same sum. */
const ATTEMPTS_OF_A_VOUCHER = 1_000;

/** Whoever shows the voucher again is its payer, whatever challenge it answers: the same is signed each time. */
function channelCredential(
  payment: PaymentPayload,
  network: NonNullable<ReturnType<PayableNetworks['named']>>,
  chainId: number,
  request: GatewayRequest,
): X402Credential {
  const authorization = readBatchSettlement(payment.payload, chainId, requestDigest(request));
  return {
    id: authorization.identity(network.caip2, network.asset.address),
    fingerprint: fingerprintOf(authorization, undefined),
    isPrivate: false,
    attempts: ATTEMPTS_OF_A_VOUCHER,
    identifier: payment.identifier,
    payment,
    authorization,
    network: network.id,
  };
}

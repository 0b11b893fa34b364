/** x402 over HTTP: which headers carry what. Source: x402 specifications, HTTP transport, versions 2 and 1. */
import { toDecimal } from '../../money.ts';
import type { PayableNetworks } from '../../payment/networks.ts';
import { paymentProblem } from '../../payment/payment-problem.ts';
import type { Challenge, HttpWire } from '../../payment/rail.ts';
import type { FailedSettlement } from '../../payment/refusal.ts';
import type { GatewayRequest } from '../../request/request.ts';
import type { Challenges } from './challenge.ts';
import { readCredential, type X402Credential } from './credential.ts';
import type { RecoveryQuery } from './recovery.ts';
import { failedSettlement, settlementResponse } from './settlement-response.ts';
import { decodePayment, encodeHeader } from './wire.ts';

export function paymentHeader({ headers }: GatewayRequest): string | undefined {
  const header = headers['payment-signature'] ?? headers['x-payment'];
  const value = Array.isArray(header) ? header[0] : header;
  return value?.trim() || undefined;
}

const responseHeader = (version: string | number): string =>
  String(version) === '1' ? 'x-payment-response' : 'payment-response';

function failureHeader(settlement: FailedSettlement): Record<string, string> {
  const { x402Version }: RecoveryQuery = JSON.parse(settlement.recoveryQuery);
  return { [responseHeader(x402Version)]: encodeHeader(failedSettlement(settlement)) };
}

export const createHttpWire = (
  networks: PayableNetworks,
  challenges: Pick<Challenges, 'inWords' | 'isPayable'>,
): HttpWire<X402Credential, Challenge> => ({
  read(request) {
    const header = paymentHeader(request);
    return header === undefined ? undefined : readCredential(decodePayment(header), networks, request);
  },

  /** One answer that clients of version 2 (header) and version 1 (body) both pay. */
  challenge(challenge) {
    const { id, quote, refusal, invalidParams } = challenge;
    const problem = paymentProblem(id, toDecimal(quote.amount), refusal, challenges.isPayable(challenge));
    const head = JSON.stringify(invalidParams ? { ...problem, invalidParams } : problem);
    const { header, error, members } = challenges.inWords(challenge);
    return {
      status: 402,
      headers: {
        'content-type': 'application/problem+json',
        'cache-control': 'no-store',
        'payment-required': header,
        ...(refusal?.settlement ? failureHeader(refusal.settlement) : {}),
      },
      body: `${head.slice(0, -1)},"x402Version":1,"error":${JSON.stringify(error)},${members}}`,
    };
  },

  tellsOwed: true,

  receipt: (receipt) => {
    const { version = '', quoted = '', charged = '' } = receipt.details;
    return {
      [responseHeader(version)]: encodeHeader(settlementResponse(receipt)),
      'turnpike-quoted': quoted,
      'turnpike-charged': charged,
    };
  },
});

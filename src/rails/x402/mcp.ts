/**
 * x402 in tool calls. Source: x402 specifications, MCP transport, version 2; `x402/error` is where the client of the
 * package `agents` looks.
 */
import { toDecimal } from '../../money.ts';
import type { PayableNetworks } from '../../payment/networks.ts';
import { paymentProblem } from '../../payment/payment-problem.ts';
import type { Challenge, McpWire } from '../../payment/rail.ts';
import type { Challenges } from './challenge.ts';
import { readCredential, type X402Credential } from './credential.ts';
import { failedSettlement, settlementResponse } from './settlement-response.ts';
import { decodeToolPayment, type Requirements } from './wire.ts';

const PAYMENT = 'x402/payment';
const RESPONSE = 'x402/payment-response';
const REQUIRED = 'x402/error';

/** `chain-c (eip155:84532) or chain-a (solana:...)`. */
function placesIn(accepts: readonly Pick<Requirements, 'network'>[], networks: Pick<PayableNetworks, 'named'>): string {
  const names = [...new Set(accepts.map(({ network }) => network))];
  return names.map((name) => `${networks.named(2, name)?.id ?? name} (${name})`).join(' or ');
}

/** What models read of a call that was not paid: neither units of a token nor a chain's number tells them a price. */
function unpaid({ id, quote, invalidParams }: Challenge, places: string): string {
  if (invalidParams)
    return 'The arguments do not fit: invalidParams names each fault. Mend them first. Nothing was charged.';
  const price = toDecimal(quote.amount);
  if (places === '') return paymentProblem(id, price, undefined, false).detail;
  return `Payment required: this call costs ${price} USD, paid on ${places}. Nothing was charged. Pay one of accepts, and call again with the same arguments and the payment in _meta, as ${PAYMENT}.`;
}

export const createMcpWire = (
  networks: PayableNetworks,
  challenges: Pick<Challenges, 'asObject'>,
): McpWire<X402Credential, Challenge> => ({
  carries: ({ meta }) => meta[PAYMENT] !== undefined,

  read(request) {
    const given = request.tool?.meta[PAYMENT];
    return given === undefined ? undefined : readCredential(decodeToolPayment(given), networks, request);
  },

  challenge(challenge) {
    const { refusal, invalidParams, quote } = challenge;
    const required = challenges.asObject(challenge, `mcp://tool/${quote.request.tool?.name ?? ''}`);
    const error = refusal ? required.error : unpaid(challenge, placesIn(required.accepts, networks));
    const structured = { ...required, error, ...(invalidParams && { invalidParams }) };
    const settlement = refusal?.settlement;
    return {
      structured,
      meta: { [REQUIRED]: structured, ...(settlement && { [RESPONSE]: failedSettlement(settlement) }) },
    };
  },

  offers: (challenge) => challenges.asObject(challenge, '').accepts,

  tellsOwed: true,

  receipt: (receipt) => ({ [RESPONSE]: settlementResponse(receipt) }),
});

/**
 * x402 in tool calls. Source: x402 specifications, MCP transport, version 2; `x402/error` is where the client of the
 * package `agents` looks.
 */
import type { PayableNetworks } from '../../payment/networks.ts';
import type { Challenge, McpWire } from '../../payment/rail.ts';
import type { Challenges } from './challenge.ts';
import { readCredential, type X402Credential } from './credential.ts';
import { failedSettlement, settlementResponse } from './settlement-response.ts';
import { decodeToolPayment } from './wire.ts';

const PAYMENT = 'x402/payment';
const RESPONSE = 'x402/payment-response';
const REQUIRED = 'x402/error';

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
    const structured = invalidParams ? { ...required, invalidParams } : required;
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

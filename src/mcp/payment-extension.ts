/**
 * The extension `org.x402/payment` of revision 2026-07-28, an experiment: who announces it is asked for a payment by a kind
 * of result of its own. Source: x402 specifications, MCP transport.
 */
import { type CallToolResult, CLIENT_CAPABILITIES_META_KEY, type ServerContext } from '@modelcontextprotocol/server';
import { asJsonObject } from '../json.ts';

const EXTENSION = 'org.x402/payment';

export const asksForPayment = ({ mcpReq }: ServerContext): boolean => {
  const capabilities = asJsonObject(asJsonObject(mcpReq.envelope)[CLIENT_CAPABILITIES_META_KEY]);
  return asJsonObject(capabilities.extensions)[EXTENSION] !== undefined;
};

/** What is no challenge stays as it is. */
export const inExtension = (result: CallToolResult): CallToolResult =>
  asJsonObject(result.structuredContent).accepts === undefined || result.isError !== true
    ? result
    : { ...result, resultType: 'payment_required', paymentRequired: result.structuredContent };

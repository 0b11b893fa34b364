/** What documents say of the door for the Model Context Protocol. */
import type { ServiceFile } from '../catalogue/types.ts';
import { MCP_PATH } from '../paths.ts';
import { makeDocument } from './document.ts';
import { paragraph } from './paragraph.ts';
import type { RailDocument } from './rail-documents.ts';

/** Longer descriptions are refused by the registry. */
const LONGEST_DESCRIPTION = 100;

/** `shop.example` is `example.shop`, as registries name who answers for a server. */
const reversed = (hostname: string): string =>
  hostname.replace(/[[\]]/g, '').split(/[.:]+/).filter(Boolean).reverse().join('.');

const slug = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '') || 'gateway';

const shortened = (text: string): string => {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= LONGEST_DESCRIPTION ? line : `${line.slice(0, LONGEST_DESCRIPTION - 3).trimEnd()}...`;
};

/** `server.json` of the registry at registry.modelcontextprotocol.io, schema 2025-12-11. */
const serverFile = ({ name, description }: ServiceFile, publicUrl: string): object => ({
  $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
  name: `${reversed(new URL(publicUrl).hostname)}/${slug(name)}`,
  title: name,
  description: shortened(description),
  version: '1.0.0',
  websiteUrl: publicUrl,
  remotes: [{ type: 'streamable-http', url: publicUrl + MCP_PATH }],
});

/** The registry's file, and the same where clients look for a server's card (SEP-2127, a draft). */
export function mcpDocuments(service: ServiceFile, publicUrl: string): RailDocument[] {
  const document = makeDocument(serverFile(service, publicUrl));
  return [
    { path: '/server.json', summary: 'the MCP server, as the MCP registry takes it', document },
    { path: '/.well-known/mcp/server-card.json', summary: 'the MCP server, where clients look for it', document },
  ];
}

/** What `/llms.txt` says of it. */
export const mcpLine = (publicUrl: string): string =>
  paragraph(
    `- ${publicUrl}${MCP_PATH}: the MCP server (streamable HTTP, no session, no login), of which everything sold is a tool.`,
    'A call without a payment answers the price: x402 in `structuredContent`, MPP in',
    '`_meta["org.paymentauth/payment-required"]`. Send the same call again with the payment in `_meta["x402/payment"]` or',
    '`_meta["org.paymentauth/credential"]`. The tool `quote` says exact prices and faults, and costs nothing.',
    '`?tools=search` lists only search_endpoints, describe_endpoint and call_endpoint; `?tools=image,token` those groups. `?content=text`',
    'answers without pictures, for models that read text alone.',
  );

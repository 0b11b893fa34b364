import { laterDocument, makeDocument } from '../../../discovery/document.ts';
import type { RailDocumentParts, RailDocuments } from '../../../discovery/rail-documents.ts';
import { MCP_PATH } from '../../../paths.ts';
import { exposurePolicy } from '../../../payment/exposure/policy.ts';
import type { X402Rail } from '../rail.ts';
import { x402Paying, x402Sold } from './llms.ts';
import { x402OpenApi } from './openapi.ts';
import { resourceList } from './resources.ts';
import { wellKnownX402 } from './well-known.ts';

/** What is offered does not wait for a facilitator: networks with a pay-to address are listed, up or not. */
export function x402Documents(parts: RailDocumentParts, rail: X402Rail | undefined): RailDocuments {
  const { service, routes, publicUrl, otherPrefixes } = parts;
  const policy = exposurePolicy(service.exposure);
  return {
    openApi: {
      rail: 'x402',
      path: '/openapi/x402.json',
      title: 'Everything that is sold over x402',
      summary: 'the same as OpenAPI 3.1',
      surface: () => x402OpenApi(routes, parts, policy),
    },
    documents: [
      {
        path: '/x402-resources',
        summary: 'everything sold over x402, with prices and JSON Schemas of requests and results',
        document: laterDocument(() => ({
          ...resourceList(routes, parts, publicUrl, policy),
          mcp: publicUrl + MCP_PATH,
        })),
      },
      {
        path: '/.well-known/x402',
        summary: 'the addresses of all x402 resources, and proofs of who owns this origin',
        document: makeDocument(wellKnownX402(service, routes, parts, publicUrl)),
      },
      ...(rail?.receiptSigner
        ? [
            {
              path: '/.well-known/did.json',
              summary: 'the key that signs the receipts of x402 payments (extension offer-receipt)',
              document: makeDocument(rail.receiptSigner.document),
            },
          ]
        : []),
    ],
    llms: {
      paying: x402Paying(routes, parts, publicUrl, otherPrefixes, policy),
      sold: x402Sold(routes, parts, policy),
    },
  };
}

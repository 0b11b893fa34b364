/** A provider that says in an OpenAPI document what it does. */
import { asJsonObject } from '../../json.ts';
import { readDocument } from './document.ts';
import { endpointFor } from './endpoint.ts';
import type { ImportOptions, Offer, ReadProvider } from './importer.ts';
import { type Operation, operationsOf } from './operations.ts';
import { chooseScheme, refusedWith, unnamedSchemes } from './security.ts';
import { Unsupported } from './unsupported.ts';
import { baseUrlOf, elsewhere, upstreamFile, upstreamNameOf } from './upstream.ts';

export interface DocumentOptions extends ImportOptions {
  /** In place of the document's first server. */
  readonly baseUrl?: string | undefined;
}

/** Reads the document at `source`. */
export const readDocumentOf =
  ({ source, baseUrl: given }: DocumentOptions): ReadProvider<Operation> =>
  async (checked) => {
    const document = await readDocument(source);
    const baseUrl = baseUrlOf(document, given);
    const operations = operationsOf(document);
    const described = { root: document.root, baseUrl };
    const context = { root: document.root, checked };
    return {
      name: upstreamNameOf(baseUrl, asJsonObject(document.root.info).title),
      operations,
      offer(chosen, upstream): Offer<Operation> {
        const scheme = chooseScheme(described, chosen);
        return {
          upstream: upstreamFile(upstream, baseUrl, scheme),
          plan(operation, sale) {
            const server = elsewhere(operation, document, baseUrl);
            if (server !== undefined)
              throw new Unsupported(`is at ${server}: import it with --base-url and --upstream`);
            const reason = refusedWith(described, operation, scheme);
            if (reason !== undefined) throw new Unsupported(reason);
            return endpointFor(operation, sale, scheme, context);
          },
          tellsFailures: false,
          remarks: [
            ...document.faults.map((fault) => `the document is not quite right: ${fault}`),
            ...(scheme?.remark ? [scheme.remark] : []),
            ...(scheme ? [] : unnamedSchemes(document, operations, upstream)),
          ],
        };
      },
    };
  };

import type { RailDeclaration } from '../catalogue/rails.ts';
import type { RailDocumentParts, RailDocuments } from '../discovery/rail-documents.ts';
import type { Rail } from '../payment/rail.ts';

/** Everything that the gateway has to know of a rail. */
export interface RailDefinition<Opened extends Rail> extends RailDeclaration {
  /** What it adds to the discovery documents. `rail` is undefined where nothing that it is paid with is configured. */
  documents(parts: RailDocumentParts, rail: Opened | undefined): RailDocuments;
  /** Headers of its own that a wallet in a browser has to send, and to read. */
  readonly browserHeaders: { readonly request: readonly string[]; readonly response: readonly string[] };
}

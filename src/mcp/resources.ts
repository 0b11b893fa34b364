/** The documents that tell what is sold, as resources under the addresses that they have on the web. */
import type { Server } from '@modelcontextprotocol/server';
import { ResourceNotFoundError } from '@modelcontextprotocol/server';
import type { Document } from '../discovery/document.ts';

export interface ListedDocument {
  readonly path: string;
  readonly summary: string;
  readonly document: Document;
}

export function serveResources(server: Server, documents: readonly ListedDocument[], publicUrl: string): void {
  server.setRequestHandler('resources/list', () => ({
    resources: documents.map(({ path, summary, document: { type, body } }) => ({
      uri: publicUrl + path,
      name: path.slice(1),
      description: summary,
      mimeType: type,
      size: body.length,
    })),
  }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }));
  server.setRequestHandler('resources/read', ({ params: { uri } }) => {
    const found = documents.find(({ path }) => uri === publicUrl + path);
    if (!found) throw new ResourceNotFoundError(uri);
    const { type, body } = found.document;
    return { contents: [{ uri, mimeType: type, text: body.toString() }] };
  });
}

/** The free documents that tell what is sold, all made from the same routes. */
import type { ServiceFile } from '../catalogue/types.ts';
import { type Document, makeDocument } from './document.ts';
import { icon } from './icon.ts';
import { llmsText } from './llms.ts';
import { mcpDocuments } from './mcp.ts';
import { type OpenApiSurface, openApiDocument } from './openapi.ts';
import type { DocumentParts, RailDocument, RailDocuments } from './rail-documents.ts';
import { securityText } from './security-text.ts';

/** Files in `/media` belong to whoever bought them. */
const ROBOTS = `# Agents start at /llms.txt
User-agent: *
Allow: /
Disallow: /media/
`;

/** Where clients look that know of one document only. */
const MAIN = '/openapi.json';

/** What `service.yaml` asks to be listed in the main document besides. */
function withOthers(surface: OpenApiSurface, rails: readonly RailDocuments[], { openapi = {} }: ServiceFile) {
  const others = rails.map(({ openApi }) => openApi).filter(({ path, rail }) => path !== MAIN && openapi[rail]);
  if (surface.path !== MAIN || others.length === 0) return surface;
  const all = [surface, ...others];
  return {
    ...surface,
    tags: [...new Set(all.flatMap(({ tags }) => tags))],
    operations: all.flatMap(({ operations }) => operations),
    failureTypes: [...new Set(all.flatMap(({ failureTypes }) => failureTypes))],
  };
}

export interface Documents {
  /** By path, all that is served. */
  readonly served: ReadonlyMap<string, Document>;
  /** Those that tell what is sold, each with a line about it. */
  readonly described: readonly RailDocument[];
}

/** `rails`: what each rail adds; `now`: milliseconds since the epoch. */
export function createDocuments(
  { service, mode, publicUrl }: DocumentParts,
  rails: readonly RailDocuments[],
  now = Date.now(),
): Documents {
  const ofRails = rails.flatMap(({ documents, openApi }): RailDocument[] => {
    const other = rails.map((rail) => rail.openApi).find((surface) => surface !== openApi);
    const document = makeDocument(openApiDocument(service, publicUrl, withOthers(openApi, rails, service), other));
    return [...documents, { path: openApi.path, summary: openApi.summary, document }];
  });
  const plain = (text: string) => makeDocument(text, 'text/plain; charset=utf-8');
  const picture = makeDocument(icon, 'image/svg+xml');
  const llms = {
    path: '/llms.txt',
    summary: 'what is sold and how to buy it, in words',
    document: plain(llmsText(service, mode, publicUrl, rails, ofRails)),
  };
  const served = new Map([
    ...[...ofRails, llms, ...mcpDocuments(service, publicUrl)].map(({ path, document }) => [path, document] as const),
    ['/robots.txt', plain(ROBOTS)],
    ...(service.security
      ? [['/.well-known/security.txt', plain(securityText(service.security, publicUrl, now))] as const]
      : []),
    ['/icon.svg', picture],
    ['/favicon.ico', picture],
  ]);
  return { served, described: [llms, ...ofRails] };
}

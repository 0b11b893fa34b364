/** The free documents that tell what is sold, all made from the same routes. */
import type { ServiceFile } from '../catalogue/types.ts';
import { type Document, makeDocument } from './document.ts';
import { icon } from './icon.ts';
import { llmsText } from './llms.ts';
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

/** Path -> document. `rails`: what each rail adds; `now`: milliseconds since the epoch. */
export function createDocuments(
  { service, mode, publicUrl }: DocumentParts,
  rails: readonly RailDocuments[],
  now = Date.now(),
): ReadonlyMap<string, Document> {
  const described = rails.flatMap(({ documents, openApi }): RailDocument[] => {
    const other = rails.map((rail) => rail.openApi).find((surface) => surface !== openApi);
    const document = makeDocument(openApiDocument(service, publicUrl, withOthers(openApi, rails, service), other));
    return [...documents, { path: openApi.path, summary: openApi.summary, document }];
  });
  const plain = (text: string) => makeDocument(text, 'text/plain; charset=utf-8');
  const picture = makeDocument(icon, 'image/svg+xml');
  return new Map([
    ...described.map(({ path, document }) => [path, document] as const),
    ['/llms.txt', plain(llmsText(service, mode, publicUrl, rails, described))],
    ['/robots.txt', plain(ROBOTS)],
    ...(service.security
      ? [['/.well-known/security.txt', plain(securityText(service.security, publicUrl, now))] as const]
      : []),
    ['/icon.svg', picture],
    ['/favicon.ico', picture],
  ]);
}

/** The free documents that tell what is sold, all made from the same routes. */
import type { ServiceFile } from '../catalogue/types.ts';
import { type Document, laterDocument, makeDocument } from './document.ts';
import { icon } from './icon.ts';
import { llmsText } from './llms.ts';
import { mcpDocuments } from './mcp.ts';
import { ALL_DOORS, allDoorsDocument, type OwnOperations, openApiDocument, type RailOpenApi } from './openapi.ts';
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

/** A rail's own surface, and in the main document those that `service.yaml` asks to be listed there besides. */
function listedIn(own: RailOpenApi, rails: readonly RailDocuments[], { openapi = {} }: ServiceFile) {
  if (own.path !== MAIN) return [own];
  const others = rails.map(({ openApi }) => openApi).filter(({ path, rail }) => path !== MAIN && openapi[rail]);
  return [own, ...others];
}

export interface Documents {
  /** By path, all that is served. */
  readonly served: ReadonlyMap<string, Document>;
  /** Those that tell what is sold, each with a line about it. */
  readonly described: readonly RailDocument[];
}

/** `rails`: what each rail adds; `own`: what is answered besides. */
export function createDocuments(
  { service, mode, publicUrl }: DocumentParts,
  rails: readonly RailDocuments[],
  own: OwnOperations,
): Documents {
  const ofRails = rails.flatMap(({ documents, openApi }): RailDocument[] => {
    const other = rails.map((rail) => rail.openApi).find((each) => each !== openApi);
    const surfaces = () => listedIn(openApi, rails, service).map(({ surface }) => surface());
    const document = laterDocument(() => openApiDocument(service, publicUrl, surfaces(), other));
    return [...documents, { path: openApi.path, summary: openApi.summary, document }];
  });
  const surfaces = () => rails.map(({ openApi }) => openApi.surface());
  const allDoors = {
    path: ALL_DOORS,
    summary: 'all of it and every other door in one document, as OpenAPI 3.1: API keys, purchases, MCP, files, probes',
    document: laterDocument(() => allDoorsDocument(service, publicUrl, surfaces(), own)),
  };
  const forPrograms = [...ofRails, allDoors];
  const plain = (text: string) => makeDocument(text, 'text/plain; charset=utf-8');
  const picture = makeDocument(icon, 'image/svg+xml');
  const llms = {
    path: '/llms.txt',
    summary: 'what is sold and how to buy it, in words',
    document: plain(llmsText(service, mode, publicUrl, rails, forPrograms)),
  };
  const served = new Map([
    ...[...forPrograms, llms, ...mcpDocuments(service, publicUrl)].map(
      ({ path, document }) => [path, document] as const,
    ),
    ['/robots.txt', plain(ROBOTS)],
    ...(service.security
      ? [['/.well-known/security.txt', plain(securityText(service.security, publicUrl, Date.now()))] as const]
      : []),
    ['/icon.svg', picture],
    ['/favicon.ico', picture],
  ]);
  return { served, described: [llms, ...forPrograms] };
}

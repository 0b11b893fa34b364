/** The free documents that tell what is sold, all made from the same routes. */
import { type Document, makeDocument } from './document.ts';
import { icon } from './icon.ts';
import { llmsText } from './llms.ts';
import { openApiDocument } from './openapi.ts';
import type { DocumentParts, RailDocument, RailDocuments } from './rail-documents.ts';

/** Files in `/media` belong to whoever bought them. */
const ROBOTS = `# Agents start at /llms.txt
User-agent: *
Allow: /
Disallow: /media/
`;

/** Path -> document. `rails`: what each rail adds. */
export function createDocuments(
  { service, mode, publicUrl }: DocumentParts,
  rails: readonly RailDocuments[],
): ReadonlyMap<string, Document> {
  const described = rails.flatMap(({ documents, openApi }): RailDocument[] => {
    const other = rails.map((rail) => rail.openApi).find((surface) => surface !== openApi);
    const document = makeDocument(openApiDocument(service, publicUrl, openApi, other));
    return [...documents, { path: openApi.path, summary: openApi.summary, document }];
  });
  const plain = (text: string) => makeDocument(text, 'text/plain; charset=utf-8');
  const picture = makeDocument(icon, 'image/svg+xml');
  return new Map([
    ...described.map(({ path, document }) => [path, document] as const),
    ['/llms.txt', plain(llmsText(service, mode, publicUrl, rails, described))],
    ['/robots.txt', plain(ROBOTS)],
    ['/icon.svg', picture],
    ['/favicon.ico', picture],
  ]);
}

import type { DocumentParts, RailDocuments } from '../discovery/rail-documents.ts';
import type { Rail } from '../payment/rail.ts';
import { rails } from './index.ts';

/** What every rail adds to the discovery documents. `opened`: by name, those that can be paid. */
export const railDocuments = (parts: DocumentParts, opened: ReadonlyMap<string, Rail>): RailDocuments[] =>
  rails.map((rail) => {
    const routes = parts.routes.filter((route) => route.rail === rail.name);
    const others = rails.filter((other) => other !== rail);
    const otherPrefixes = others.flatMap(({ operation }) => operation?.pathPrefix ?? []);
    return rail.documents({ ...parts, routes, otherPrefixes }, opened.get(rail.name));
  });

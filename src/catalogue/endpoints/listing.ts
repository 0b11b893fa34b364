/** What indexes of paid endpoints (Bazaar) are told beside an endpoint: checked when the catalogue is loaded. */
import type { CheckContext } from '../check-context.ts';
import { LONGEST_LISTED, listedText } from '../files/common.ts';
import type { EndpointListing } from '../types.ts';
import type { CatalogueDocument } from '../yaml/yaml-document.ts';

const TAKEN = new RegExp(listedText.pattern);

/** The service's own name as far as indexes take it: its letters without accents, and no more than fit. */
function listedName(name: string): string | undefined {
  const ascii = name.normalize('NFKD').replace(/[^ -~]/g, '');
  return ascii.trim().slice(0, LONGEST_LISTED).trim() || undefined;
}

/** The endpoint's group is its first tag: its folder's name is held to what indexes take. */
export function listingOf(group: string, document: CatalogueDocument, context: CheckContext): EndpointListing {
  const { service, checker } = context;
  if (!TAKEN.test(group)) {
    checker.diagnostics.add(
      { document, path: [] },
      `the group ${group} is a tag in indexes of paid endpoints`,
      `name the folder with 1 to ${LONGEST_LISTED} printable ASCII characters`,
    );
  }
  return {
    serviceName: service && (service.shortName ?? listedName(service.name)),
    tags: [...new Set([group, ...(service?.keywords ?? [])])],
    icon: service?.icon,
  };
}

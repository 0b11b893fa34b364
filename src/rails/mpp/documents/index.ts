import type { RailDocumentParts, RailDocuments } from '../../../discovery/rail-documents.ts';
import { exposurePolicy } from '../../../payment/exposure/policy.ts';
import type { MppRail } from '../rail.ts';
import { mppPaying, mppSold } from './llms.ts';
import { mppOpenApi } from './openapi.ts';

/** `rail` is undefined where nothing that MPP is paid with is configured: then nothing is sold. */
export function mppDocuments(
  { service, routes, publicUrl }: RailDocumentParts,
  rail: Pick<MppRail, 'offers'> | undefined,
): RailDocuments {
  const sold = routes.flatMap((route) => {
    const offers = rail?.offers(route, route.listing.price) ?? [];
    return offers.length > 0 ? [{ route, offers }] : [];
  });
  return {
    openApi: {
      rail: 'mpp',
      path: '/openapi.json',
      title: 'What is sold over MPP',
      summary: 'what is sold over MPP, as OpenAPI 3.1',
      surface: () => mppOpenApi(service, sold),
    },
    documents: [],
    llms: { paying: mppPaying(sold, publicUrl, exposurePolicy(service.exposure)), sold: mppSold(sold) },
  };
}

/** `GET /openapi.json`: the MPP surface. */
import type { Route, ServiceFile } from '../../catalogue/types.ts';
import type { Money } from '../../money.ts';
import type { MppOffer } from '../../payment/rails/mpp.ts';
import { type OpenApiDocument, openApiDocument, operation } from './openapi.ts';
import { mppPaymentInfo } from './payment-info.ts';

const PAYMENT_HEADERS = {
  Authorization: 'Payment <serialized-credential>, made from a challenge of the 402; left out on the first call',
};
const RECEIPT_HEADERS = { 'Payment-Receipt': 'Serialized receipt of the payment: base64url of JSON' };
const CHALLENGE_HEADERS = { 'WWW-Authenticate': 'Payment challenges, one for each method of payment' };

/** The endpoint's own method; the server takes both. */
function mainMethod({ id, endpoint }: Route): 'GET' | 'POST' {
  const method = endpoint.routes.find(({ kind }) => kind === 'base')?.methods[0];
  if (!method) throw new Error(`the endpoint of ${id} has no base route that says its method`);
  return method;
}

/** Every MPP route that some method of payment is offered for. */
export function mppOpenApi(
  service: ServiceFile,
  routes: readonly Route[],
  publicUrl: string,
  mppOffers: (route: Route, amount: Money) => readonly MppOffer[],
): OpenApiDocument {
  const operations = routes.flatMap((route) => {
    const { path } = route;
    if (route.rail !== 'mpp') return [];
    const mpp = route.operation as { readonly operationId: string; readonly tag: string };
    const offers = mppOffers(route, route.listing.price);
    if (offers.length === 0) return [];
    const method = mainMethod(route);
    const made = operation(route, {
      operationId: mpp.operationId,
      tag: mpp.tag,
      method,
      payment: mppPaymentInfo(route, offers),
      paymentHeaders: PAYMENT_HEADERS,
      receiptHeaders: RECEIPT_HEADERS,
      challengeHeaders: CHALLENGE_HEADERS,
    });
    return [{ path, method, operation: made }];
  });
  return openApiDocument(service, publicUrl, { rail: 'mpp', tags: service.tags, operations });
}

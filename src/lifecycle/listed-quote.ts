import { holdsSecret } from '../catalogue/endpoints/secret.ts';
import type { Route } from '../catalogue/types.ts';
import type { Quote } from '../payment/rail.ts';
import type { GatewayRequest } from '../request/request.ts';

/** Of a request that is not valid: what it would cost is not known. */
export function listedQuote(route: Route, request: GatewayRequest): Quote {
  const { networks, deadlineMs, listing, endpoint } = route;
  return { route, amount: listing.price, networks, deadlineMs, isSecret: holdsSecret(endpoint, undefined), request };
}

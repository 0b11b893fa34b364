/** `GET /openapi.json`: what is sold over MPP. */
import type { Route, ServiceFile } from '../../../catalogue/types.ts';
import { type OpenApiSurface, operation } from '../../../discovery/openapi.ts';
import { paymentRequired } from '../../../discovery/openapi-components.ts';
import type { MppOperation } from '../declaration.ts';
import type { SoldOverMpp } from './llms.ts';
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

/** `sold`: the routes, and what each can be paid with at its listed price. */
export function mppOpenApi(service: ServiceFile, sold: readonly SoldOverMpp[]): OpenApiSurface {
  const operations = sold.flatMap(({ route, offers }) => {
    const { operationId, tag } = route.operation as MppOperation;
    const main = mainMethod(route);
    const describe = (method: 'GET' | 'POST') =>
      operation(route, {
        operationId: method === main ? operationId : `${operationId}_${method.toLowerCase()}`,
        tag,
        method,
        payment: mppPaymentInfo(route, offers),
        paymentHeaders: PAYMENT_HEADERS,
        receiptHeaders: RECEIPT_HEADERS,
        challengeHeaders: CHALLENGE_HEADERS,
      });
    const methods = [main, ...route.methods.filter((method) => method !== main)];
    // Answers are described once: registries of MPP services read 64 KB.
    const at = `#/paths/${route.path.replaceAll('/', '~1')}/${main.toLowerCase()}/responses`;
    const same = { 200: { $ref: `${at}/200` }, 402: { $ref: `${at}/402` } };
    return methods.map((method) => {
      const made = describe(method);
      if (method === main) return { path: route.path, method, operation: made };
      const parameters = made.parameters.map(({ schema: { description: _, ...schema }, ...each }) => ({
        ...each,
        schema,
      }));
      const described = { ...made, description: made.summary, parameters, responses: { ...made.responses, ...same } };
      return { path: route.path, method, operation: described };
    });
  });
  return {
    rail: 'mpp',
    path: '/openapi.json',
    title: 'What is sold over MPP',
    summary: 'what is sold over MPP, as OpenAPI 3.1',
    tags: service.tags,
    operations,
    paymentRequired,
  };
}

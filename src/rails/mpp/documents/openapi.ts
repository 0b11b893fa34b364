/** `GET /openapi.json`: what is sold over MPP. */
import type { Route, ServiceFile } from '../../../catalogue/types.ts';
import { type OpenApiSurface, operation, type Parameter, type Reference } from '../../../discovery/openapi.ts';
import { paymentRequired } from '../../../discovery/openapi-components.ts';
import type { MppOperation } from '../declaration.ts';
import type { SoldOverMpp } from './llms.ts';
import { mppPaymentInfo } from './payment-info.ts';

const PAYMENT_HEADERS = {
  Authorization: 'Payment <serialized-credential>, made from a challenge of the 402; left out on the first call',
};
const RECEIPT_HEADERS = { 'Payment-Receipt': 'Serialized receipt of the payment: base64url of JSON' };
const CHALLENGE_HEADERS = { 'WWW-Authenticate': 'Payment challenges, one for each method of payment' };

/** In bytes: more than a reference takes. */
const LONG_SCHEMA = 140;

/** The endpoint's own method; the server takes both. */
function mainMethod({ id, endpoint }: Route): 'GET' | 'POST' {
  const method = endpoint.routes.find(({ kind }) => kind === 'base')?.methods[0];
  if (!method) throw new Error(`the endpoint of ${id} has no base route that says its method`);
  return method;
}

/** Where the operation of the route's own method stands in the document. */
const place = (route: Route): string =>
  `#/paths/${route.path.replaceAll('/', '~1')}/${mainMethod(route).toLowerCase()}`;

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
    const field = `${place(route)}/requestBody/content/application~1json/schema/properties`;
    // Answers and long schemas are described once: registries of MPP services read 64 KB.
    const once = (parameter: Parameter | Reference): Parameter | Reference => {
      if ('$ref' in parameter) return parameter;
      if (parameter.in === 'header') return { $ref: `${place(route)}/parameters/0` };
      const { description: _, ...schema } = parameter.schema;
      const isLong = main === 'POST' && JSON.stringify(schema).length > LONG_SCHEMA;
      return { ...parameter, schema: isLong ? { $ref: `${field}/${parameter.name}` } : schema };
    };
    return methods.map((method) => {
      const described = describe(method);
      const isFirst = route === sold[0]?.route && method === main;
      const asked = { $ref: `${place(sold[0]?.route ?? route)}/responses/402` };
      const made = isFirst ? described : { ...described, responses: { ...described.responses, 402: asked } };
      if (method === main) return { path: route.path, method, operation: made };
      const { offers, ...price } = made['x-payment-info'];
      const payment = { ...price, offers: offers.map(({ description: _, ...offer }) => offer) };
      const responses = { ...made.responses, 200: { $ref: `${place(route)}/responses/200` } };
      return {
        path: route.path,
        method,
        operation: {
          ...made,
          description: method === 'GET' ? 'The same as POST, with a query' : 'The same as GET, with a body',
          parameters: made.parameters.map(once),
          responses,
          'x-payment-info': payment,
        },
      };
    });
  });
  return {
    rail: 'mpp',
    path: '/openapi.json',
    title: 'What is sold over MPP',
    summary: 'what is sold over MPP, as OpenAPI 3.1',
    tags: service.tags,
    operations,
    security: {
      type: 'http',
      scheme: 'Payment',
      description:
        'MPP: a credential made from a challenge of the 402, as Authorization: Payment <serialized-credential>',
    },
    paymentRequired,
    failureTypes: ['application/problem+json'],
  };
}

/** `GET /openapi.json`: what is sold over MPP. */
import type { JsonSchema, Route, ServiceFile } from '../../../catalogue/types.ts';
import {
  type OpenApiSurface,
  type Operation,
  operation,
  type Parameter,
  type Reference,
  type Response,
} from '../../../discovery/openapi.ts';
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

/** What all operations have in common is described once: registries of MPP services read 64 KB. */
const AUTHORIZATION = 'Authorization';
const PAYMENT_REQUIRED = 'PaymentRequired';

/** The endpoint's own method; the server takes both. */
function mainMethod({ id, endpoint }: Route): 'GET' | 'POST' {
  const method = endpoint.routes.find(({ kind }) => kind === 'base')?.methods[0];
  if (!method) throw new Error(`the endpoint of ${id} has no base route that says its method`);
  return method;
}

/** Schemas under names of their own: the name of the first field that has one, with a number where another has that name. */
function openNames() {
  const named = new Map<string, JsonSchema>();
  const names = new Map<string, string>();
  function refer(wanted: string, schema: JsonSchema): JsonSchema {
    const text = JSON.stringify(schema);
    if (text.length <= LONG_SCHEMA) return schema;
    // OpenAPI 3.1.0, "Components Object": folders and fields may be called otherwise.
    const name = wanted.replace(/[^A-Za-z0-9._-]+/g, '_');
    const known = names.get(text);
    let own = known ?? name;
    for (let number = 2; known === undefined && named.has(own); number += 1) own = `${name}_${number}`;
    names.set(text, own);
    named.set(own, schema);
    return { $ref: `#/components/schemas/${own}` };
  }
  /** A field of a query, whose items others have as well. */
  function referField(name: string, schema: JsonSchema): JsonSchema {
    const { items } = schema;
    return refer(
      name,
      items === undefined ? schema : { ...schema, items: referField(`${name}_item`, items as JsonSchema) },
    );
  }
  return { named, refer, referField };
}

/** `sold`: the routes, and what each can be paid with at its listed price. */
export function mppOpenApi(service: ServiceFile, sold: readonly SoldOverMpp[]): OpenApiSurface {
  const names = openNames();
  /**
   * Both methods refer to its schema: generators of clients find nothing that stands within another operation. It stands there as
   * a whole, for readers that follow one reference and no further.
   */
  const named = (group: string, { content = {}, ...answer }: Response, isBrief: boolean): Response => ({
    ...answer,
    content: Object.fromEntries(
      Object.entries(content).map(([type, { schema, example }]) => {
        const known = names.refer(`${group}_result`, schema);
        return [type, isBrief ? { schema: known } : { schema: known, example }];
      }),
    ),
  });
  const parameters: Record<string, Parameter> = {};
  const answers: Record<string, Operation['responses'][string]> = {};
  const operations = sold.flatMap(({ route, offers }) => {
    const { operationId, tag } = route.operation as MppOperation;
    const main = mainMethod(route);
    const describe = (method: 'GET' | 'POST'): Operation => {
      const described = operation(route, {
        operationId: method === main ? operationId : `${operationId}_${method.toLowerCase()}`,
        tag,
        method,
        payment: mppPaymentInfo(route, offers),
        paymentHeaders: PAYMENT_HEADERS,
        receiptHeaders: RECEIPT_HEADERS,
        challengeHeaders: CHALLENGE_HEADERS,
      });
      const [authorization, ...fields] = described.parameters as readonly Parameter[];
      const { 200: paid, 402: asked, ...responses } = described.responses;
      if (authorization) parameters[AUTHORIZATION] = authorization;
      if (asked) answers[PAYMENT_REQUIRED] = asked;
      return {
        ...described,
        parameters: [{ $ref: `#/components/parameters/${AUTHORIZATION}` }, ...fields],
        responses: {
          ...(paid && 'content' in paid && { 200: named(route.endpoint.group, paid, method !== main) }),
          ...responses,
          402: { $ref: `#/components/responses/${PAYMENT_REQUIRED}` },
        },
      };
    };
    const brief = (parameter: Parameter | Reference): Parameter | Reference => {
      if ('$ref' in parameter) return parameter;
      const { description: _, example: __, ...others } = parameter;
      const { description: ___, ...schema } = parameter.schema;
      return { ...others, schema: main === 'POST' ? names.referField(parameter.name, schema) : schema };
    };
    const methods = [main, ...route.methods.filter((method) => method !== main)];
    return methods.map((method) => {
      const described = describe(method);
      if (method === main) return { path: route.path, method, operation: described };
      const { offers, ...price } = described['x-payment-info'];
      const payment = { ...price, offers: offers.map(({ description: _, ...offer }) => offer) };
      return {
        path: route.path,
        method,
        operation: {
          ...described,
          description: method === 'GET' ? 'The same as POST, with a query' : 'The same as GET, with a body',
          parameters: described.parameters.map(brief),
          'x-payment-info': payment,
        },
      };
    });
  });
  return {
    rail: 'mpp',
    tags: service.tags,
    operations,
    shared: { parameters, responses: answers, schemas: Object.fromEntries(names.named) },
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

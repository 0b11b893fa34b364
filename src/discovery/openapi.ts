/** OpenAPI 3.1 descriptions of what is sold: the parts that all rails have in common. */
import type { JsonSchema, Route, ServiceFile } from '../catalogue/types.ts';
import { MCP_PATH } from '../mcp-path.ts';
import { errorBody, failureResponses, failureStatuses } from './openapi-components.ts';
import type { PaymentInfo } from './payment-info.ts';
import { answerSchema, requestFields, requestSchema, requiredFields } from './schemas.ts';

type Method = 'get' | 'post';

/** Media type -> what is sent in it. */
type Content = Readonly<Record<string, { readonly schema: JsonSchema; readonly example?: unknown }>>;

interface Header {
  readonly description: string;
  readonly schema: JsonSchema;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'header' | 'query';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
  readonly example?: unknown;
}

interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Header>>;
  readonly content: Content;
}

export interface Reference {
  readonly $ref: string;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly security: readonly [];
  readonly parameters: readonly (Parameter | Reference)[];
  readonly requestBody?: { readonly required: true; readonly content: Content };
  readonly responses: Readonly<Record<string, Response | Reference>>;
  readonly 'x-payment-info': PaymentInfo;
}

export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: Readonly<Record<string, unknown>> & { readonly title: string; readonly version: string };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string }[];
  readonly externalDocs?: { readonly url: string; readonly description: string };
  readonly paths: Readonly<Record<string, { readonly [method in Method]?: Operation }>>;
  readonly components: object;
  readonly 'x-service-info': object;
  readonly 'x-discovery': { readonly ownershipProofs: readonly string[] };
}

/** What a rail sells, as OpenAPI. */
export interface OpenApiSurface {
  /** Its name. */
  readonly rail: string;
  readonly path: string;
  /** What the documents of other rails call this one. */
  readonly title: string;
  /** See RailDocument. */
  readonly summary: string;
  readonly tags: readonly string[];
  readonly operations: readonly { readonly path: string; readonly method: 'GET' | 'POST'; operation: Operation }[];
  /** The body of its 402. */
  readonly paymentRequired: JsonSchema;
  /** The media types of its other failures. */
  readonly failureTypes: readonly string[];
}

/** What a rail adds to an operation. */
interface OperationParts {
  readonly operationId: string;
  readonly tag: string;
  readonly method: 'GET' | 'POST';
  readonly payment: PaymentInfo;
  /** Headers that carry the payment, all optional: the first call has none. */
  readonly paymentHeaders: Readonly<Record<string, string>>;
  /** Headers of the 200 and of the 402: name -> description. */
  readonly receiptHeaders: Readonly<Record<string, string>>;
  readonly challengeHeaders: Readonly<Record<string, string>>;
}

const text = { type: 'string' } as const;

const headers = (descriptions: Readonly<Record<string, string>>): Record<string, Header> =>
  Object.fromEntries(Object.entries(descriptions).map(([name, description]) => [name, { description, schema: text }]));

function queryParameters(route: Route): Parameter[] {
  const required = requiredFields(route);
  return requestFields(route).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(typeof schema.description === 'string' ? { description: schema.description } : {}),
    schema,
    ...(name in route.example ? { example: route.example[name] } : {}),
  }));
}

/** One operation. Results are inline: clients that index operations do not all follow references. */
export function operation(route: Route, parts: OperationParts): Operation {
  const get = parts.method === 'GET';
  const paymentHeaders = Object.entries(parts.paymentHeaders).map(
    ([name, description]): Parameter => ({
      name,
      in: 'header',
      required: false,
      description,
      schema: text,
    }),
  );
  return {
    operationId: parts.operationId,
    summary: route.endpoint.summary,
    description: route.endpoint.description,
    tags: [parts.tag],
    security: [],
    parameters: [...paymentHeaders, ...(get ? queryParameters(route) : [])],
    ...(get
      ? {}
      : {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: requestSchema(route), example: route.example } },
          },
        }),
    responses: {
      200: {
        description: 'Paid, and the result',
        headers: headers(parts.receiptHeaders),
        content: {
          [route.streams ? 'text/event-stream' : 'application/json']: {
            schema: answerSchema(route),
            example: route.resultExample,
          },
        },
      },
      402: {
        description: 'Not paid: the price of this request, and how to pay it',
        headers: headers(parts.challengeHeaders),
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/PaymentRequired' } } },
      },
      ...Object.fromEntries(
        failureStatuses(parts.method).map((status) => [status, { $ref: `#/components/responses/${status}` }]),
      ),
    },
    'x-payment-info': parts.payment,
  };
}

function byPath(operations: OpenApiSurface['operations']): OpenApiDocument['paths'] {
  const paths: Record<string, { [method in Method]?: Operation }> = {};
  for (const { path, method, operation } of operations) {
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation };
  }
  return paths;
}

/**
 * The document of one rail. Clients look for `/openapi.json` and nothing else, so each names another that there is.
 * `publicUrl` is without a trailing slash.
 */
export function openApiDocument(
  service: ServiceFile,
  publicUrl: string,
  { tags, operations, paymentRequired, failureTypes }: OpenApiSurface,
  other: Pick<OpenApiSurface, 'path' | 'title'> | undefined,
): OpenApiDocument {
  const { name, description, contact, instructions, ownershipProofs } = service;
  const llms = `${publicUrl}/llms.txt`;
  return {
    openapi: '3.1.0',
    info: { title: name, version: '1.0.0', description, ...(contact ? { contact } : {}), 'x-guidance': instructions },
    servers: [{ url: publicUrl }],
    tags: tags.map((tag) => ({ name: tag })),
    ...(other && { externalDocs: { url: publicUrl + other.path, description: other.title } }),
    paths: byPath(operations),
    components: {
      schemas: { Error: errorBody, PaymentRequired: paymentRequired },
      responses: failureResponses(failureTypes),
    },
    'x-service-info': {
      docs: { ...(contact?.url ? { homepage: contact.url } : {}), llms },
      mcp: publicUrl + MCP_PATH,
    },
    'x-discovery': { ownershipProofs: ownershipProofs ?? [] },
  };
}

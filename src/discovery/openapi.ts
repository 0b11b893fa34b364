/** OpenAPI 3.1 descriptions of what is sold: the parts that all rails have in common. */
import type { JsonSchema, Route, ServiceFile } from '../catalogue/types.ts';
import { toDecimal, usd } from '../money.ts';
import { MCP_PATH } from '../paths.ts';
import { errorBody, failureResponses, failureStatuses } from './openapi-components.ts';
import type { PaymentInfo } from './payment-info.ts';
import { answerSchema, requestFields, requestSchema, requiredFields, withOpenConditions } from './schemas.ts';

type Method = 'get' | 'post';

/** Media type -> what is sent in it. */
type Content = Readonly<Record<string, { readonly schema: JsonSchema; readonly example?: unknown }>>;

interface Header {
  readonly description: string;
  readonly schema: JsonSchema;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'header' | 'query' | 'path';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
  readonly example?: unknown;
}

export interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Header>>;
  readonly content?: Content;
}

export interface Reference {
  readonly $ref: string;
}

/** Schemes by name, one of which is enough; `{}`: none is needed. */
type Security = readonly { readonly [scheme: string]: readonly [] }[];

/** An operation, sold or not. */
export interface AnyOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly security: Security;
  readonly parameters: readonly (Parameter | Reference)[];
  readonly requestBody?: { readonly required: true; readonly content: Content };
  readonly responses: Readonly<Record<string, Response | Reference>>;
}

/** What is sold. */
export interface Operation extends AnyOperation {
  readonly 'x-payment-info': PaymentInfo;
}

export interface Tag {
  readonly name: string;
  readonly description: string;
}

export interface OpenApiDocument<Described extends AnyOperation = Operation> {
  readonly openapi: '3.1.0';
  readonly info: Readonly<Record<string, unknown>> & { readonly title: string; readonly version: string };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly Tag[];
  readonly externalDocs?: { readonly url: string; readonly description: string };
  readonly paths: Readonly<Record<string, { readonly [method in Method]?: Described }>>;
  readonly components: object;
  readonly 'x-service-info': object;
  readonly 'x-discovery': { readonly ownershipProofs: readonly string[] };
}

/** Where and how an operation is asked for. */
export interface PlacedOperation<Described extends AnyOperation = AnyOperation> {
  readonly path: string;
  readonly method: 'GET' | 'POST';
  readonly operation: Described;
}

/** How callers show who they are, or that they paid; the members that OpenAPI has for each type. */
export type SecurityScheme = { readonly description: string } & (
  | { readonly type: 'http'; readonly scheme: string }
  | { readonly type: 'apiKey'; readonly in: 'header'; readonly name: string }
);

/** What operations refer to, by name. */
export interface SharedParts {
  readonly parameters: Readonly<Record<string, Parameter>>;
  readonly responses: Readonly<Record<string, Response | Reference>>;
  readonly schemas: Readonly<Record<string, JsonSchema>>;
}

/** The document of what a rail sells. */
export interface RailOpenApi {
  /** The rail's name. */
  readonly rail: string;
  readonly path: string;
  /** What the documents of other rails call this one. */
  readonly title: string;
  /** See RailDocument. */
  readonly summary: string;
  /** What it tells, made each time. */
  surface(): OpenApiSurface;
}

/** What a rail sells, as OpenAPI. */
export interface OpenApiSurface {
  /** Its name. */
  readonly rail: string;
  readonly tags: readonly string[];
  readonly operations: readonly PlacedOperation<Operation>[];
  /** What its operations refer to besides errors. */
  readonly shared?: SharedParts;
  /** How its payments are shown. */
  readonly security: SecurityScheme;
  /** The body of its 402. */
  readonly paymentRequired: JsonSchema;
  /** The media types of its other failures. */
  readonly failureTypes: readonly string[];
}

/** What the gateway answers besides what is sold. */
export interface OwnOperations {
  readonly tags: readonly Tag[];
  readonly operations: readonly PlacedOperation[];
  readonly security: Readonly<Record<string, SecurityScheme>>;
  readonly schemas: Readonly<Record<string, JsonSchema>>;
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
            content: {
              'application/json': { schema: withOpenConditions(requestSchema(route)), example: route.example },
            },
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

function byPath<Described extends AnyOperation>(
  operations: readonly PlacedOperation<Described>[],
): OpenApiDocument<Described>['paths'] {
  const paths: Record<string, { [method in Method]?: Described }> = {};
  for (const { path, method, operation } of operations) {
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation };
  }
  return paths;
}

/** How many paths are sold under a tag, and what a call costs there. */
function soldUnder(name: string, operations: readonly PlacedOperation<Operation>[]): Tag {
  const tagged = operations.filter(({ operation }) => operation.tags.includes(name));
  const prices = tagged
    .flatMap(({ operation: { 'x-payment-info': info } }) =>
      info.pricingMode === 'fixed' ? [usd(info.price)] : [usd(info.minPrice), usd(info.maxPrice)],
    )
    .sort((left, right) => (left < right ? -1 : 1));
  const [least = 0n] = prices;
  const most = prices.at(-1);
  if (most === undefined) return { name, description: 'Nothing is sold under it' };
  const cost = least === most ? toDecimal(least) : `${toDecimal(least)} to ${toDecimal(most)}`;
  return { name, description: `${new Set(tagged.map(({ path }) => path)).size} sold, ${cost} USD a call` };
}

const unique = <Item>(items: readonly Item[]): Item[] => [...new Set(items)];

/** What the surfaces have in common in one document. */
function sharedBy(
  surfaces: readonly OpenApiSurface[],
): Pick<OpenApiDocument, 'tags'> & SharedParts & Pick<OpenApiSurface, 'operations'> {
  const [challenge, ...others] = unique(surfaces.map(({ paymentRequired }) => paymentRequired));
  const operations = surfaces.flatMap((surface) => surface.operations);
  return {
    operations,
    tags: unique(surfaces.flatMap(({ tags }) => tags)).map((tag) => soldUnder(tag, operations)),
    parameters: Object.assign({}, ...surfaces.map(({ shared }) => shared?.parameters)),
    schemas: {
      Error: errorBody,
      PaymentRequired: others.length === 0 ? (challenge ?? {}) : { anyOf: [challenge, ...others] },
      ...Object.assign({}, ...surfaces.map(({ shared }) => shared?.schemas)),
    },
    responses: {
      ...failureResponses(unique(surfaces.flatMap(({ failureTypes }) => failureTypes))),
      ...Object.assign({}, ...surfaces.map(({ shared }) => shared?.responses)),
    },
  };
}

/** Who sells. `publicUrl` without a trailing slash. */
function aboutService(service: ServiceFile, publicUrl: string) {
  const { name, description, contact, license, instructions, ownershipProofs } = service;
  return {
    openapi: '3.1.0' as const,
    info: {
      title: name,
      version: '1.0.0',
      description,
      contact: contact ?? { name, url: publicUrl },
      license: license ?? { name: 'Terms of sale', url: `${publicUrl}/llms.txt` },
      'x-guidance': instructions,
    },
    servers: [{ url: publicUrl }],
    'x-service-info': {
      docs: {
        ...(contact?.url ? { homepage: contact.url } : {}),
        llms: `${publicUrl}/llms.txt`,
        apiReference: publicUrl + ALL_DOORS,
      },
      mcp: publicUrl + MCP_PATH,
    },
    'x-discovery': { ownershipProofs: ownershipProofs ?? [] },
  };
}

/** Where the document of every door is. */
export const ALL_DOORS = '/openapi-all.json';

/**
 * The document of one rail, and of others that are listed with it. Clients look for `/openapi.json` and nothing else, so each
 * names another that there is. `publicUrl` is without a trailing slash.
 */
export function openApiDocument(
  service: ServiceFile,
  publicUrl: string,
  surfaces: readonly OpenApiSurface[],
  other: Pick<RailOpenApi, 'path' | 'title'> | undefined,
): OpenApiDocument {
  const { operations, tags, ...components } = sharedBy(surfaces);
  return {
    ...aboutService(service, publicUrl),
    tags,
    ...(other && { externalDocs: { url: publicUrl + other.path, description: other.title } }),
    paths: byPath(operations),
    components,
  };
}

/** Everything that the gateway answers, in one document, with what callers have to show for it. */
export function allDoorsDocument(
  service: ServiceFile,
  publicUrl: string,
  surfaces: readonly OpenApiSurface[],
  own: OwnOperations,
): OpenApiDocument<AnyOperation> {
  const { tags, operations: _, ...components } = sharedBy(surfaces);
  // The first call shows nothing, and is told the price.
  const sold = surfaces.flatMap(({ rail, operations }) =>
    operations.map((each) => ({ ...each, operation: { ...each.operation, security: [{ [rail]: [] as const }, {}] } })),
  );
  const names = new Set(tags.map(({ name }) => name));
  const payments = Object.fromEntries(surfaces.map(({ rail, security }) => [rail, security]));
  return {
    ...aboutService(service, publicUrl),
    tags: [...tags, ...own.tags.filter(({ name }) => !names.has(name))],
    externalDocs: { url: `${publicUrl}/llms.txt`, description: 'What is sold and how to buy it, in words' },
    paths: byPath<AnyOperation>([...sold, ...own.operations]),
    components: {
      ...components,
      schemas: { ...components.schemas, ...own.schemas },
      securitySchemes: { ...payments, ...own.security },
    },
  };
}

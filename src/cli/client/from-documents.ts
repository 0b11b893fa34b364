/** What a gateway sells, from the OpenAPI documents that it serves. Anybody may have written them: nothing is believed. */
import type { Network } from '../../catalogue/types.ts';
import { readJson } from '../../client/bounded.ts';
import { asJsonObject, asJsonObjects, isJsonObject, type JsonObject, textOrNull } from '../../json.ts';
import { UsageProblem } from '../command-line.ts';
import { assetsOf } from './assets.ts';
import type { Sold, SoldPath } from './sold.ts';

const PATIENCE_MS = 15_000;
/** Far more than any gateway's. */
const LARGEST_DOCUMENT_MIB = 32;

async function readDocument(url: string): Promise<JsonObject> {
  const wrong = (what: string) =>
    new UsageProblem(`${url} ${what}: name a Turnpike gateway by --url, or its catalogue's directory by --catalogue`);
  let answer: Response;
  try {
    answer = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(PATIENCE_MS) });
  } catch (error) {
    const { cause } = error as Error;
    throw wrong(`cannot be reached (${cause instanceof Error ? cause.message : (error as Error).message})`);
  }
  if (answer.status !== 200) throw wrong(`answers ${answer.status}, and no OpenAPI document`);
  const document: unknown = await readJson(answer, LARGEST_DOCUMENT_MIB).catch(() => undefined);
  if (!isJsonObject(document) || typeof document.openapi !== 'string' || !isJsonObject(document.paths)) {
    throw wrong('is not an OpenAPI document');
  }
  if (!isJsonObject(document['x-service-info']) || typeof asJsonObject(document['x-service-info']).mcp !== 'string') {
    throw wrong('is an OpenAPI document of something else');
  }
  return document;
}

/** The value itself, or what it refers to in the document; a gateway describes once what it has twice. */
function resolved(document: JsonObject, value: unknown): JsonObject {
  const { $ref } = asJsonObject(value);
  if (typeof $ref !== 'string') return asJsonObject(value);
  const steps = $ref.replace(/^#\//, '').split('/');
  const names = steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  let found: unknown = document;
  for (const name of names) {
    const from: JsonObject | readonly unknown[] = Array.isArray(found) ? found : asJsonObject(found);
    found = Object.hasOwn(from, name) ? (from as JsonObject)[name] : undefined;
  }
  return asJsonObject(found);
}

/** What is read of a query, as one object. */
function querySchema(document: JsonObject, operation: JsonObject): JsonObject {
  const parameters = Array.isArray(operation.parameters) ? operation.parameters : [];
  const inQuery = parameters.map((each) => resolved(document, each)).filter((each) => each.in === 'query');
  const properties = inQuery.map((each) => [String(each.name), resolved(document, each.schema)]);
  const required = inQuery.filter((each) => each.required === true).map(({ name }) => String(name));
  return { type: 'object', properties: Object.fromEntries(properties), required, additionalProperties: false };
}

function priceOf(operation: JsonObject): string {
  const { price, minPrice, maxPrice } = asJsonObject(operation['x-payment-info']);
  const [least, most] = [price ?? minPrice, price ?? maxPrice].map((each) => textOrNull(each) ?? '?');
  return least === most ? `${least} USD` : `${least} to ${most} USD`;
}

function soldPath(document: JsonObject, path: string, methods: JsonObject): SoldPath | undefined {
  const method = isJsonObject(methods.post) ? 'POST' : 'GET';
  const operation = asJsonObject(methods[method.toLowerCase()]);
  if (!isJsonObject(operation['x-payment-info'])) return undefined;
  const answer = asJsonObject(resolved(document, asJsonObject(operation.responses)[200]).content);
  const body = asJsonObject(asJsonObject(asJsonObject(operation.requestBody).content)['application/json']);
  const streamed = answer['text/event-stream'];
  return {
    path,
    method,
    summary: textOrNull(operation.summary) ?? path,
    price: priceOf(operation),
    request: method === 'GET' ? querySchema(document, operation) : resolved(document, body.schema),
    result: resolved(document, asJsonObject(streamed ?? answer['application/json']).schema),
    streams: streamed !== undefined,
  };
}

const pathsOf = (document: JsonObject): SoldPath[] =>
  Object.entries(asJsonObject(document.paths)).flatMap(([path, methods]) => {
    const sold = path.startsWith('/') ? soldPath(document, path, asJsonObject(methods)) : undefined;
    return sold ? [sold] : [];
  });

/** The token addresses that the documents name. */
function currenciesOf(document: JsonObject): Set<string> {
  const operations = Object.values(asJsonObject(document.paths)).flatMap((methods) =>
    Object.values(asJsonObject(methods)).map(asJsonObject),
  );
  const offers = operations.flatMap((each) => asJsonObjects(asJsonObject(each['x-payment-info']).offers));
  return new Set(offers.flatMap(({ currency }) => (typeof currency === 'string' ? [currency] : [])));
}

/**
 * What the gateway at `url` sells. Of the assets that it names, those of `networks` may be signed for; the others are told as
 * `unknown`. Throws UsageProblem.
 */
export async function readDocuments(
  url: string,
  networks: readonly Network[],
): Promise<Sold & { readonly unknown: readonly string[] }> {
  const first = await readDocument(`${url}/openapi.json`);
  // Each of the documents names the other, at whatever address the gateway thinks that it has.
  const { url: other } = asJsonObject(first.externalDocs);
  const path = typeof other === 'string' && URL.canParse(other) ? new URL(other).pathname : undefined;
  // What begins otherwise would go on with the host's name, or its port.
  const documents = path?.startsWith('/') ? [await readDocument(url + path), first] : [first];
  const paths = [...new Map(documents.flatMap(pathsOf).map((sold) => [sold.path, sold])).values()];
  const named = new Set(documents.flatMap((document) => [...currenciesOf(document)]));
  const assets = assetsOf(networks).filter(({ address }) => named.has(address));
  const known = new Set(assets.map(({ address }) => address));
  return { url, paths, assets, unknown: [...named].filter((address) => !known.has(address)) };
}

import { isJsonObject } from '../../json.ts';
import type { CheckContext } from '../check-context.ts';
import type { OptionsUse } from '../contracts.ts';
import { checkNames } from '../names.ts';
import { closedRequest, openResult, refusals } from '../schemas/schemas.ts';
import type {
  Endpoint,
  EndpointFile,
  Envelope,
  Input,
  JsonSchema,
  PriceOptions,
  Route,
  UpstreamOptions,
} from '../types.ts';
import { inlineFragments } from '../yaml/fragments.ts';
import { below, type CatalogueDocument, keyOf, pathName, type SourceLocation } from '../yaml/yaml-document.ts';
import { bodyLimitOf } from './body-limit.ts';
import { checkDeadline, readDeadlines, shortestOf } from './deadline.ts';
import { listingOf } from './listing.ts';
import { checkAmounts, compilePrice, readListing } from './price.ts';
import { checkUnread, type RequestUse } from './request-reads.ts';
import {
  checkEnvelope,
  checkMirror,
  checkOperation,
  checkRequest,
  checkRequestOn,
  checkResult,
} from './route-checks.ts';
import { planRoutes, type RoutePlan, routeId, type Sourced } from './route-plan.ts';
import { checkSecret } from './secret.ts';

/** Checks one endpoint file and makes its routes; routes with mistakes are left out. */
export function readEndpoint(document: CatalogueDocument, id: string, context: CheckContext): Endpoint {
  const root: SourceLocation = { document, path: [] };
  const { checker, endpointFile, names } = context;
  if (document.value !== undefined) checker.fits(root, document.value, endpointFile);
  checkNames(root, document.value, endpointFile, names, checker.diagnostics);
  const file = (isJsonObject(document.value) ? document.value : {}) as unknown as EndpointFile;
  const routes: Route[] = [];
  const group = id.split('/')[0] ?? id;
  const endpoint: Endpoint = {
    id,
    group,
    file: document.file,
    summary: file.summary,
    description: file.description ?? file.summary,
    listing: listingOf(group, document, context),
    secret: file.secret ?? false,
    free: file.free ?? false,
    soldUntil: soldUntil(file),
    routes,
  };
  for (const plan of planRoutes(document, context)) {
    const route = readRoute(plan, endpoint, context);
    if (route) routes.push(route);
  }
  return endpoint;
}

function soldUntil({ enabled, retire }: EndpointFile): number {
  if (enabled === false) return Number.NEGATIVE_INFINITY;
  const day = typeof retire === 'string' ? Date.parse(retire) : Number.NaN;
  return Number.isNaN(day) ? Number.POSITIVE_INFINITY : day;
}

function readRoute(plan: RoutePlan, endpoint: Endpoint, context: CheckContext): Route | undefined {
  const { kind, path, networks, request, result } = plan;
  const requestSchema = closedRequest(inlineFragments(request.value, context.fragments));
  const resultSchema = openResult(inlineFragments(result.value, context.fragments));
  checkMirror(plan, context);
  checkOperation(plan, context);
  checkRequest(plan, context);
  checkRequestOn(plan, context);
  checkResult(result, context);
  checkEnvelope(plan, resultSchema, context);
  const deadlines = readDeadlines(plan.deadline, requestSchema);
  checkUpstreams(plan, requestSchema, { result: resultSchema, deadlineMs: shortestOf(deadlines) }, context);
  checkAnswers(plan, resultSchema, context);
  checkExampleAnswers(plan, resultSchema, context);
  checkDeadline(plan, requestSchema, context);
  checkSecret(plan, requestSchema, context);
  const upstreams = plan.upstreams.flatMap(({ value }) => (isJsonObject(value) ? [value as UpstreamOptions] : []));
  const named = upstreams.map(({ model }) => model);
  const bodyLimitBytes = bodyLimitOf(named, requestSchema, context.models);
  const blame = blameOf(plan, plan.price);
  const price = compilePrice(plan.price, requestSchema, { blame, bodyLimitBytes, working: named[0] }, context);
  const listing = price && readListing(plan.listing, price, context.checker.diagnostics);
  if (price) checkAmounts(price, endpoint.free, plan.price.location, context);
  if (!price || !listing || typeof path.value !== 'string') return undefined;
  const priceOptions = plan.price.value as PriceOptions;
  for (const upstream of plan.upstreams) {
    const priceAt = plan.price.inherited && !upstream.inherited ? upstream.location : plan.price.location;
    context.upstreamUse.checkTerms(upstream.location, upstream.value, price, priceAt);
    context.upstreamUse.checkRecipeTerms(upstream.value, priceOptions, priceAt);
    context.upstreamUse.checkItems(upstream.value, priceOptions, requestSchema, blame ?? below(priceAt, 'by'));
  }
  const envelope = plan.envelope.value as Envelope | undefined;
  const resultExample = Array.isArray(resultSchema.examples) ? resultSchema.examples[0] : undefined;
  return {
    id: routeId(kind, endpoint.id, path.value),
    endpoint,
    kind,
    rail: plan.rail.name,
    methods: plan.methods,
    path: path.value,
    networks: networks.map(String),
    requestOn: requestsOn(plan, context),
    price,
    priceOptions,
    listing,
    ...deadlines,
    bodyLimitBytes,
    request: requestSchema,
    result: resultSchema,
    envelope,
    example: plan.example.value as Input,
    resultExample: enveloped(resultExample, envelope),
    upstreams,
    ...(checkStreams(plan, resultSchema, context) && { streams: true }),
    operation: plan.operation?.value,
  };
}

/** What each upstream needs of the request is there, and each field of the request is read by one of them. */
function checkUpstreams(
  plan: RoutePlan,
  schema: JsonSchema,
  answers: Pick<OptionsUse, 'result' | 'deadlineMs'>,
  { upstreamUse, checker }: CheckContext,
): void {
  const { request, upstreams } = plan;
  const use = (upstream: Sourced): RequestUse => ({
    schema,
    name: pathName(request.location.path),
    // A mirror's own upstream works on the endpoint's request: it is the upstream that does not fit.
    fields: request.inherited && !upstream.inherited ? undefined : below(request.location, 'properties'),
    blame: blameOf(plan, upstream),
  });
  const read = upstreams.map((upstream) =>
    upstreamUse.check(upstream.location, upstream.value, use(upstream), answers),
  );
  const [first] = upstreams;
  if (!first || read.includes(undefined)) return;
  checkUnread(new Set(read.flatMap((fields) => [...(fields ?? [])])), first.location, use(first), checker.diagnostics);
}

/** A result requires nothing that its upstream does not answer: every call would fail after the work. */
function checkAnswers({ result, upstreams }: RoutePlan, schema: JsonSchema, context: CheckContext): void {
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  for (const { value, location, inherited } of upstreams) {
    const answers = context.upstreamUse.answersOf(value);
    const missing = required.filter((name) => answers && !answers.includes(String(name)));
    for (const name of missing) {
      const wrong = `${pathName(result.location.path)} requires ${String(name)}, which its upstream does not answer`;
      const at =
        result.inherited && !inherited ? keyOf(location) : below(result.location, 'required', required.indexOf(name));
      context.checker.diagnostics.add(at, wrong, `it answers: ${answers?.join(', ')}`);
    }
  }
}

/** Whether the route's answers are passed on while they come. All of its upstreams do so then, and a result is their text. */
function checkStreams({ upstreams, result }: RoutePlan, schema: JsonSchema, context: CheckContext): boolean {
  const { diagnostics } = context.checker;
  const streaming = upstreams.filter(({ value }) => context.upstreamUse.streams(value));
  if (streaming.length === 0) return false;
  for (const { location } of upstreams.filter((upstream) => !streaming.includes(upstream))) {
    diagnostics.add(keyOf(location), 'another upstream of this endpoint streams, and this one does not');
  }
  if (schema.type !== 'string') {
    diagnostics.add(keyOf(result.location), 'an answer that streams is a text', 'write result: { type: string }');
  }
  return true;
}

/** What an upstream's example answer is made into fits the result schema: what fails here would fail every call. */
function checkExampleAnswers({ result, upstreams }: RoutePlan, schema: JsonSchema, context: CheckContext): void {
  const { checker, checked, compiler, upstreamUse } = context;
  for (const { value, location } of upstreams) {
    const example = upstreamUse.exampleResult(location, value);
    if (!example || checked.has(schema, { made: example.result })) continue;
    const validate = compiler.compile(schema, result.location, 'result');
    if (!validate) continue;
    const wrong = refusals(validate, example.result);
    for (const { path, message, expected } of wrong) {
      const where = path.length === 0 ? '' : `${pathName(path)}: `;
      const text = `what is made of this answer does not fit ${pathName(result.location.path)}: ${where}${message}`;
      checker.diagnostics.add(keyOf(example.at), text, expected);
    }
    if (wrong.length === 0) checked.add(schema, { made: example.result });
  }
}

/** A network that a mirror has to itself says what it takes in the mirror's own request. */
function requestsOn({ requestOn, networks }: RoutePlan, context: CheckContext): Route['requestOn'] {
  const schemas = Object.entries(isJsonObject(requestOn.value) ? requestOn.value : {});
  const own = schemas.filter(([network]) => networks.includes(network));
  return new Map(
    own.map(([network, schema]) => [network, { ...inlineFragments(schema, context.fragments), type: 'object' }]),
  );
}

/** An inherited part fits the endpoint's own request: when it does not fit a mirror's, the mirror's request is at fault. */
const blameOf = ({ request }: RoutePlan, part: Sourced): SourceLocation | undefined =>
  part.inherited && !request.inherited ? keyOf(request.location) : undefined;

/** A result as the caller sees it. */
export function enveloped(result: unknown, envelope: Envelope | undefined): unknown {
  switch (envelope) {
    case undefined:
      return result;
    case 'data':
      return { success: true, data: result };
    case 'flag':
      return { success: true, ...(isJsonObject(result) ? result : {}) };
  }
}

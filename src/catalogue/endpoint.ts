import { type CatalogueDocument, keyOf, type Place, pathName } from './document.ts';
import { parseDuration } from './duration.ts';
import { endpointFileSchema } from './files/endpoint.ts';
import { inlineFragments } from './fragments.ts';
import { compilePrice, readListing } from './price.ts';
import { checkMpp, checkNetworks, checkRequest, checkResult } from './route-checks.ts';
import { planRoutes, type RoutePlan, type Sourced } from './route-plan.ts';
import { isObject } from './schema-walk.ts';
import { closedRequest, openResult } from './schemas.ts';
import type { Surroundings } from './surroundings.ts';
import type { Endpoint, EndpointFile, Envelope, Input, PriceOptions, Route, UpstreamOptions } from './types.ts';

const DEFAULT_DEADLINE_MS = 45_000;

/** Checks one endpoint file and makes its routes; routes with mistakes are left out. */
export function readEndpoint(document: CatalogueDocument, id: string, surroundings: Surroundings): Endpoint {
  const root: Place = { document, path: [] };
  if (document.value !== undefined) surroundings.checker.fits(root, document.value, endpointFileSchema);
  const file = (isObject(document.value) ? document.value : {}) as unknown as EndpointFile;
  const routes: Route[] = [];
  const endpoint: Endpoint = {
    id,
    group: id.split('/')[0] ?? id,
    file: document.file,
    summary: file.summary,
    description: file.description ?? file.summary,
    secret: file.secret ?? false,
    routes,
  };
  for (const plan of planRoutes(document, surroundings.networks)) {
    const route = readRoute(plan, endpoint, file, surroundings);
    if (route) routes.push(route);
  }
  return endpoint;
}

function readRoute(
  plan: RoutePlan,
  endpoint: Endpoint,
  file: EndpointFile,
  surroundings: Surroundings,
): Route | undefined {
  const { kind, path, networks, request, result } = plan;
  const requestSchema = closedRequest(inlineFragments(request.value, surroundings.fragments));
  const resultSchema = openResult(inlineFragments(result.value, surroundings.fragments));
  checkNetworks(plan, surroundings);
  if (kind === 'mpp') checkMpp(plan, file.mpp?.tag, surroundings);
  checkRequest(plan, surroundings);
  checkResult(result, surroundings);
  for (const upstream of plan.upstreams) {
    surroundings.upstreamUse.check(upstream.place, upstream.value, {
      schema: requestSchema,
      name: pathName(request.place.path),
      blame: blameOf(plan, upstream),
    });
  }
  const price = compilePrice(plan.price, requestSchema, blameOf(plan, plan.price), surroundings);
  const listing = price && readListing(plan.listing, price, surroundings.checker.findings);
  if (!price || !listing || typeof path.value !== 'string') return undefined;
  for (const upstream of plan.upstreams) {
    const priceAt = plan.price.inherited && !upstream.inherited ? upstream.place : plan.price.place;
    surroundings.upstreamUse.checkTerms(upstream.place, upstream.value, price, priceAt);
  }
  const envelope = plan.envelope as Envelope | undefined;
  const deadline = (kind === 'mpp' ? file.mpp?.deadline : undefined) ?? file.deadline;
  const resultExample = Array.isArray(resultSchema.examples) ? resultSchema.examples[0] : undefined;
  return {
    id: kind === 'base' ? endpoint.id : path.value.slice(1),
    endpoint,
    kind,
    rail: kind === 'mpp' ? 'mpp' : 'x402',
    methods: plan.methods,
    path: path.value,
    networks: networks.map((network) => String(network.id)),
    price,
    priceOptions: plan.price.value as PriceOptions,
    listing,
    deadlineMs: parseDuration(String(deadline)) ?? DEFAULT_DEADLINE_MS,
    request: requestSchema,
    result: resultSchema,
    envelope,
    example: plan.example.value as Input,
    resultExample: enveloped(resultExample, envelope),
    upstreams: plan.upstreams.map((upstream) => upstream.value as UpstreamOptions),
    mpp: kind === 'mpp' ? file.mpp : undefined,
  };
}

/** An inherited part fits the endpoint's own request: when it does not fit a mirror's, the mirror's request is at fault. */
const blameOf = ({ request }: RoutePlan, part: Sourced): Place | undefined =>
  part.inherited && !request.inherited ? keyOf(request.place) : undefined;

/** A result as the caller sees it. */
export function enveloped(result: unknown, envelope: Envelope | undefined): unknown {
  switch (envelope) {
    case undefined:
      return result;
    case 'data':
      return { success: true, data: result };
    case 'flag':
      return { success: true, ...(isObject(result) ? result : {}) };
  }
}

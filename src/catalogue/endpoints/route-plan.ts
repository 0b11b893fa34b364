import { isJsonObject, type JsonObject } from '../../json.ts';
import type { CheckContext } from '../check-context.ts';
import { baseRail, type OperationDeclaration, type RailDeclaration } from '../rails.ts';
import type { Route } from '../types.ts';
import { below, type CatalogueDocument, keyOf, type SourceLocation } from '../yaml/yaml-document.ts';

/** A value and where it stands, which for an inherited one is the endpoint itself. */
export interface Sourced {
  readonly value: unknown;
  readonly location: SourceLocation;
  /** True where a mirror or an operation takes it over from its endpoint. */
  readonly inherited: boolean;
}

/** A route before anything of it is checked: its own parts, and the endpoint's where it has none. */
export interface RoutePlan {
  readonly kind: Route['kind'];
  readonly rail: RailDeclaration;
  /** The mirror, the operation's block or the whole file. */
  readonly location: SourceLocation;
  readonly path: Sourced;
  readonly methods: Route['methods'];
  readonly networks: readonly unknown[];
  readonly price: Sourced;
  /** Undefined where the price is its own and speaks for itself. */
  readonly listing: Sourced | undefined;
  readonly request: Sourced;
  /** Network -> a schema, only for networks of the endpoint. */
  readonly requestOn: Sourced;
  readonly result: Sourced;
  readonly example: Sourced;
  readonly envelope: Sourced;
  readonly deadline: unknown;
  readonly upstreams: readonly Sourced[];
  /** Present where the kind is `operation`: its block, and what its rail says of such blocks. */
  readonly operation: { readonly value: JsonObject; readonly declaration: OperationDeclaration } | undefined;
}

type Context = Pick<CheckContext, 'service' | 'networks' | 'rails'>;

/** The routes that a file describes. The file may still be wrong in every way. */
export function planRoutes(document: CatalogueDocument, context: Context): RoutePlan[] {
  const file = document.value;
  if (!isJsonObject(file)) return [];
  const base = basePlan({ document, path: [] }, file, context);
  const mirrors = Array.isArray(file.mirrors) ? file.mirrors : [];
  const plans = [base];
  mirrors.forEach((mirror, index) => {
    if (isJsonObject(mirror))
      plans.push(mirrorPlan(below({ document, path: [] }, 'mirrors', index), mirror, base, context));
  });
  for (const rail of context.rails) {
    const block = rail.operation && file[rail.operation.key];
    if (rail.operation && isJsonObject(block)) {
      plans.push(operationPlan(below({ document, path: [] }, rail.operation.key), block, base, rail, rail.operation));
    }
  }
  return plans;
}

function basePlan(location: SourceLocation, file: JsonObject, { service, rails }: Context): RoutePlan {
  const part = (key: string): Sourced => ({ value: file[key], location: below(location, key), inherited: false });
  return {
    kind: 'base',
    rail: baseRail(rails),
    location,
    path: part('path'),
    methods: [file.method === 'GET' ? 'GET' : 'POST'],
    networks: Array.isArray(file.networks) ? file.networks : service ? [service.defaultNetwork] : [],
    price: part('price'),
    listing: file.listing === undefined ? undefined : part('listing'),
    request: part('request'),
    requestOn: part('requestOn'),
    result: part('result'),
    example: part('example'),
    envelope: part('envelope'),
    deadline: file.deadline,
    upstreams: upstreamsOf(part('upstream')),
    operation: undefined,
  };
}

/** By which a route is known in books and figures: its endpoint's own, or its path. */
export const routeId = (kind: RoutePlan['kind'], endpoint: string, path: string): string =>
  kind === 'base' ? endpoint : path.slice(1);

function overridden(location: SourceLocation, own: JsonObject, base: RoutePlan): RoutePlan {
  const part = (key: 'price' | 'request' | 'result' | 'example' | 'envelope'): Sourced =>
    own[key] === undefined
      ? { ...base[key], inherited: true }
      : { value: own[key], location: below(location, key), inherited: false };
  return {
    ...base,
    location,
    price: part('price'),
    listing: own.price === undefined ? base.listing : undefined,
    request: part('request'),
    result: part('result'),
    example: part('example'),
    envelope: part('envelope'),
    upstreams:
      own.upstream === undefined
        ? base.upstreams.map((upstream) => ({ ...upstream, inherited: true }))
        : upstreamsOf({ value: own.upstream, location: below(location, 'upstream'), inherited: false }),
  };
}

function mirrorPlan(location: SourceLocation, mirror: JsonObject, base: RoutePlan, { networks }: Context): RoutePlan {
  const prefix = networks?.get(String(mirror.network))?.prefix;
  const network = below(location, 'network');
  const derived = prefix === undefined ? undefined : prefixed(`/${prefix}`, base);
  return {
    ...overridden(location, mirror, base),
    kind: 'mirror',
    path: ownPath(location, mirror, derived, network),
    networks: [mirror.network],
  };
}

function operationPlan(
  location: SourceLocation,
  block: JsonObject,
  base: RoutePlan,
  rail: RailDeclaration,
  declaration: OperationDeclaration,
): RoutePlan {
  return {
    ...overridden(location, block, base),
    kind: 'operation',
    rail,
    path: ownPath(location, block, prefixed(declaration.pathPrefix, base), keyOf(location)),
    methods: declaration.methods,
    networks: [],
    deadline: block.deadline ?? base.deadline,
    operation: { value: block, declaration },
  };
}

const prefixed = (prefix: string, { path }: RoutePlan): string | undefined =>
  typeof path.value === 'string' ? prefix + path.value : undefined;

const ownPath = (
  location: SourceLocation,
  own: JsonObject,
  derived: string | undefined,
  derivedAt: SourceLocation,
): Sourced =>
  own.path === undefined
    ? { value: derived, location: derivedAt, inherited: true }
    : { value: own.path, location: below(location, 'path'), inherited: false };

const upstreamsOf = (upstream: Sourced): Sourced[] =>
  Array.isArray(upstream.value)
    ? upstream.value.map((value, index) => ({ ...upstream, value, location: below(upstream.location, index) }))
    : [upstream];

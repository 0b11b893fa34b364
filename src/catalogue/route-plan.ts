import { below, type CatalogueDocument, keyOf, type Place } from './document.ts';
import { isObject, type PlainObject } from './schema-walk.ts';
import type { Network, Route } from './types.ts';

/** A value and where it is said, which for an inherited one is the endpoint itself. */
export interface Sourced {
  readonly value: unknown;
  readonly place: Place;
  /** True where a mirror or MPP operation takes it over from its endpoint. */
  readonly inherited: boolean;
}

/** A route before anything of it is checked: its own parts, and the endpoint's where it has none. */
export interface RoutePlan {
  readonly kind: Route['kind'];
  /** The mirror, the MPP block or the whole file. */
  readonly place: Place;
  readonly path: Sourced;
  readonly methods: Route['methods'];
  readonly networks: readonly { id: unknown; place: Place }[];
  readonly price: Sourced;
  /** Undefined where the price is its own and speaks for itself. */
  readonly listing: Sourced | undefined;
  readonly request: Sourced;
  readonly result: Sourced;
  readonly example: Sourced;
  readonly envelope: unknown;
  readonly upstreams: readonly Sourced[];
}

/** The routes that a file describes. The file may still be wrong in every way. */
export function planRoutes(
  document: CatalogueDocument,
  networks: ReadonlyMap<string, Network> | undefined,
): RoutePlan[] {
  const file = document.value;
  if (!isObject(file)) return [];
  const base = basePlan({ document, path: [] }, file);
  const mirrors = Array.isArray(file.mirrors) ? file.mirrors : [];
  const plans = [base];
  mirrors.forEach((mirror, index) => {
    if (isObject(mirror))
      plans.push(mirrorPlan(below({ document, path: [] }, 'mirrors', index), mirror, base, networks));
  });
  if (isObject(file.mpp)) plans.push(mppPlan(below({ document, path: [] }, 'mpp'), file.mpp, base));
  return plans;
}

function basePlan(place: Place, file: PlainObject): RoutePlan {
  const part = (key: string): Sourced => ({ value: file[key], place: below(place, key), inherited: false });
  const networks = Array.isArray(file.networks) ? file.networks : ['chain-a'];
  return {
    kind: 'base',
    place,
    path: part('path'),
    methods: [file.method === 'GET' ? 'GET' : 'POST'],
    networks: networks.map((id, index) => ({ id, place: below(place, 'networks', index) })),
    price: part('price'),
    listing: file.listing === undefined ? undefined : part('listing'),
    request: part('request'),
    result: part('result'),
    example: part('example'),
    envelope: file.envelope,
    upstreams: upstreamsOf(part('upstream')),
  };
}

function overridden(place: Place, own: PlainObject, base: RoutePlan): RoutePlan {
  const part = (key: 'price' | 'request' | 'result' | 'example'): Sourced =>
    own[key] === undefined
      ? { ...base[key], inherited: true }
      : { value: own[key], place: below(place, key), inherited: false };
  return {
    ...base,
    place,
    price: part('price'),
    listing: own.price === undefined ? base.listing : undefined,
    request: part('request'),
    result: part('result'),
    example: part('example'),
    envelope: own.envelope ?? base.envelope,
    upstreams:
      own.upstream === undefined
        ? base.upstreams.map((upstream) => ({ ...upstream, inherited: true }))
        : upstreamsOf({ value: own.upstream, place: below(place, 'upstream'), inherited: false }),
  };
}

function mirrorPlan(
  place: Place,
  mirror: PlainObject,
  base: RoutePlan,
  networks: ReadonlyMap<string, Network> | undefined,
): RoutePlan {
  const prefix = networks?.get(String(mirror.network))?.prefix;
  const network = below(place, 'network');
  const derived = prefix === undefined ? undefined : prefixed(`/${prefix}`, base);
  return {
    ...overridden(place, mirror, base),
    kind: 'mirror',
    path: ownPath(place, mirror, derived, network),
    networks: [{ id: mirror.network, place: network }],
  };
}

function mppPlan(place: Place, mpp: PlainObject, base: RoutePlan): RoutePlan {
  return {
    ...overridden(place, mpp, base),
    kind: 'mpp',
    path: ownPath(place, mpp, prefixed('/mpp', base), keyOf(place)),
    methods: ['GET', 'POST'],
    networks: [],
  };
}

const prefixed = (prefix: string, { path }: RoutePlan): string | undefined =>
  typeof path.value === 'string' ? prefix + path.value : undefined;

const ownPath = (place: Place, own: PlainObject, derived: string | undefined, derivedAt: Place): Sourced =>
  own.path === undefined
    ? { value: derived, place: derivedAt, inherited: true }
    : { value: own.path, place: below(place, 'path'), inherited: false };

const upstreamsOf = (upstream: Sourced): Sourced[] =>
  Array.isArray(upstream.value)
    ? upstream.value.map((value, index) => ({ ...upstream, value, place: below(upstream.place, index) }))
    : [upstream];

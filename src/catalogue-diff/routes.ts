/** What is different for the buyers of one route. */
import type { Route } from '../catalogue/types.ts';
import { type Change, effectOn } from './change.ts';
import type { Difference } from './difference.ts';
import { compareNetworks, keptNetworks, type Sold } from './networks.ts';
import { comparePrices } from './prices.ts';
import { compareSchemas } from './schemas.ts';

type RouteChange = Omit<Change, 'where'>;

const ANY = { type: 'object' };

/** What single networks take. Defaults are filled in before. */
const compareRequestsOn = (before: Sold, after: Sold): RouteChange[] =>
  keptNetworks(before, after).flatMap(({ was, is }) => {
    const [old, now] = [before.route.requestOn.get(was.id), after.route.requestOn.get(is.id)];
    return described(`on ${is.id}`, 'request', compareSchemas(old ?? ANY, now ?? ANY, { fillsDefaults: false }));
  });

const described = (prefix: string, about: 'request' | 'result', differences: readonly Difference[]): RouteChange[] =>
  differences.map((difference) => {
    const { path, what, before, after } = difference;
    const place = [prefix, path].filter((part) => part !== '').join(' ');
    const judged = difference.direction === 'unknown' ? `${what} (cannot be judged)` : what;
    return {
      about,
      what: place === '' ? judged : `${place}: ${judged}`,
      effect: effectOn(about, difference),
      before,
      after,
    };
  });

function compareMethods({ methods: old }: Route, { methods: now }: Route): RouteChange[] {
  const [before, after] = [old.join(', '), now.join(', ')];
  if (before === after) return [];
  const isHeld = old.every((method) => now.includes(method));
  return [{ about: 'method', what: '', effect: isHeld ? 'harmless' : 'breaks', before, after }];
}

/** Who pays nothing sends no payment; who has to show who they are to get an answer again may not know how. */
const TERMS = [
  { about: 'free', harmful: false, effect: 'breaks' },
  { about: 'secret', harmful: true, effect: 'may break' },
] as const;

const compareTerms = ({ endpoint: old }: Route, { endpoint: now }: Route): RouteChange[] =>
  TERMS.filter(({ about }) => written(old[about]) !== written(now[about])).map(({ about, harmful, effect }) => ({
    about,
    what: '',
    effect: now[about] === !harmful ? 'harmless' : effect,
    before: written(old[about]),
    after: written(now[about]),
  }));

const written = (term: Route['endpoint']['free' | 'secret']): string =>
  typeof term === 'boolean' ? String(term) : `unless ${term.unless}`;

/** A stream is read event by event, and is paid for before it begins. */
function compareStreams({ streams: old = false }: Route, { streams: now = false }: Route): RouteChange[] {
  if (old === now) return [];
  return [{ about: 'result', what: 'streamed', effect: 'breaks', before: String(old), after: String(now) }];
}

/** The first day on which a route is not sold any more; undefined where there is none. */
const retirementOf = ({ endpoint: { soldUntil } }: Route): string | undefined =>
  Number.isFinite(soldUntil) ? new Date(soldUntil).toISOString().slice(0, 10) : undefined;

function compareEnds(was: Route, is: Route): RouteChange[] {
  const [old, now] = [was.endpoint.soldUntil, is.endpoint.soldUntil];
  if (old === now) return [];
  const effect = now < old ? 'breaks' : 'harmless';
  return [{ about: 'endpoint', what: 'retires', effect, before: retirementOf(was), after: retirementOf(is) }];
}

export function compareRoutes(before: Sold, after: Sold): RouteChange[] {
  const [was, is] = [before.route, after.route];
  const moved = { about: 'route', what: 'moved', effect: 'breaks', before: was.path, after: is.path } as const;
  const wrapped = {
    about: 'result',
    what: 'envelope',
    effect: 'breaks',
    before: was.envelope,
    after: is.envelope,
  } as const;
  return [
    ...(was.path === is.path ? [] : [moved]),
    ...compareMethods(was, is),
    ...compareNetworks(before, after),
    ...compareRequestsOn(before, after),
    ...described('', 'request', compareSchemas(was.request, is.request, { fillsDefaults: true })),
    ...described('', 'result', compareSchemas(was.result, is.result, { fillsDefaults: false })),
    ...(was.envelope === is.envelope ? [] : [wrapped]),
    ...compareStreams(was, is),
    ...comparePrices(was, is),
    ...compareTerms(was, is),
    ...compareEnds(was, is),
  ];
}

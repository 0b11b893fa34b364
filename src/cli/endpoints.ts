/**
 * `npm run endpoints`: what the catalogue in `TURNPIKE_CATALOGUE` (default: `catalogue`) sells, and which endpoints
 * live mode would leave out because the environment has no key for their upstream.
 */
import './broken-pipe.ts';
import { priceRange } from '../catalogue/endpoints/price-range.ts';
import { loadCatalogue } from '../catalogue/load.ts';
import { isOnSale } from '../catalogue/on-sale.ts';
import { servedBy } from '../catalogue/served-by.ts';
import type { Endpoint, Route } from '../catalogue/types.ts';
import { keysIn } from '../environment.ts';
import { withoutKeys } from '../gateway/serving.ts';
import { shipped } from '../gateway/shipped.ts';
import { openUpstreams } from '../upstream/bindings.ts';
import { wrappedTable } from '../wrapped-table.ts';
import { asJson } from './columns.ts';
import { run } from './command.ts';
import { readCommandLine } from './command-line.ts';

const USAGE = `npm run endpoints [-- --json]

  what the catalogue in TURNPIKE_CATALOGUE (default: catalogue) sells, and what live mode needs for it`;

const columns = [
  { title: 'ENDPOINT', width: 40 },
  { title: 'PRICE', width: 9 },
  { title: 'NETWORKS', width: 16 },
  { title: 'ALSO AT', width: 11 },
  { title: 'UPSTREAM', width: 12 },
  { title: 'LIVE, OR NEEDS', width: 19 },
];

/** A mirror's network or an operation's rail, with its price where that is another than the base route's. */
function elsewhere(base: Route, route: Route): string {
  const name = route.kind === 'operation' ? route.rail : route.networks.join(' ');
  return priceRange(route.price) === priceRange(base.price) ? name : `${name} ${priceRange(route.price)}`;
}

/** Why live mode would not sell it; undefined where it would. */
function lackOf(base: Route, unsold: ReadonlyMap<Route, readonly string[]>): string | undefined {
  if (!isOnSale(base, Date.now())) return 'not sold';
  const wanted = unsold.get(base);
  return wanted && (wanted.join(' ') || 'a model that credits pay for');
}

function rowOf({ routes }: Endpoint, unsold: ReadonlyMap<Route, readonly string[]>): string[] {
  const [base, ...others] = routes;
  if (base === undefined) return [];
  return [
    `${base.methods[0]} ${base.path}`,
    priceRange(base.price),
    base.networks.join(', '),
    others.map((route) => elsewhere(base, route)).join(', '),
    servedBy(base),
    lackOf(base, unsold) ?? 'live',
  ];
}

async function main(): Promise<void> {
  const { values } = readCommandLine(USAGE, { json: { type: 'boolean' } }, process.argv.slice(2));
  const catalogue = loadCatalogue(process.env.TURNPIKE_CATALOGUE ?? 'catalogue', shipped);
  // Nothing is asked: this only knows which keys each route needs.
  const upstreams = openUpstreams({ catalogue, ...shipped, secretOf: keysIn(process.env) });
  const { endpoints } = catalogue;
  const unsold = withoutKeys(catalogue, upstreams);
  const rows = endpoints.map((endpoint) => rowOf(endpoint, unsold));
  if (values.json) {
    const head = columns.map(({ title }) => title.toLowerCase());
    process.stdout.write(asJson(head, rows));
    return await upstreams.close();
  }
  console.log(wrappedTable(columns, rows));
  const lacking = endpoints.flatMap(({ routes: [base] }) => (base && lackOf(base, unsold) !== undefined ? [base] : []));
  const variables = [...new Set(lacking.flatMap((base) => unsold.get(base) ?? []))].sort();
  console.log(
    `\n${endpoints.length} ${endpoints.length === 1 ? 'endpoint' : 'endpoints'}, ${endpoints.length - lacking.length} of them live with the keys that are set`,
  );
  if (variables.length > 0) console.log(`set for the others: ${variables.join(' ')}`);
  await upstreams.close();
}

await run(main);

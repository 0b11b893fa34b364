/** What is sold, one line an endpoint, as Markdown. */
import type { Route } from '../../catalogue/types.ts';
import { type Payable, type PayableNetwork, payableOn } from './payable.ts';
import { priceInWords } from './payment-info.ts';
import { requestFields, requiredFields } from './schemas.ts';

interface Sold {
  readonly route: Route;
  readonly networks: readonly [PayableNetwork, ...PayableNetwork[]];
}

function grouped<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    groups.set(key, [...(groups.get(key) ?? []), item]);
  }
  return groups;
}

const soldAs = (kind: 'base' | 'mirror', routes: readonly Route[], payable: Payable): Sold[] =>
  routes.flatMap((route): Sold[] => {
    const [first, ...others] = payableOn(route, payable);
    return route.kind === kind && first ? [{ route, networks: [first, ...others] }] : [];
  });

const names = (networks: readonly PayableNetwork[]): string =>
  networks.map(({ network }) => network.listedAs).join(', ');

const networkInWords = ({ network, binding }: PayableNetwork): string =>
  `${network.listedAs} (${binding.asset.symbol}, ${binding.caip2})`;

function fieldsInWords(route: Route): string {
  const required = requiredFields(route);
  const fields = requestFields(route).map(([name]) => (required.includes(name) ? `${name}*` : name));
  return fields.length === 0 ? 'no fields' : `fields ${fields.join(', ')}`;
}

function line(route: Route, method: string): string {
  const summary = route.endpoint.summary.replace(/\s+/g, ' ').trim();
  return `- ${method}${route.path}: ${priceInWords(route)}. ${summary}; ${fieldsInWords(route)}.`;
}

/** The networks that most are paid on. */
function usualNetworks(sold: readonly Sold[]): string {
  const [first] = [...grouped(sold, ({ networks }) => names(networks))].sort(
    ([, left], [, right]) => right.length - left.length,
  );
  return first?.[0] ?? '';
}

/** Base routes by group. */
export function baseLines(routes: readonly Route[], payable: Payable): string[] {
  const sold = soldAs('base', routes, payable);
  if (sold.length === 0) return [];
  const usual = usualNetworks(sold);
  const networks = new Map(sold.flatMap((each) => each.networks).map((each) => [each.network.id, each]));
  return [
    '## Sold over x402',
    '',
    'POST with a JSON body; GET, where a line says so, with a query. Fields marked * are required.',
    `Paid on ${usual} unless a line names others. The networks: ${[...networks.values()].map(networkInWords).join(', ')}.`,
    '',
    ...[...grouped(sold, ({ route }) => route.endpoint.group)].flatMap(([group, members]) => [
      `### ${group}`,
      ...members.map(({ route, networks: own }) => {
        const text = line(route, route.methods[0] === 'GET' ? 'GET ' : '');
        return names(own) === usual ? text : `${text} Paid on ${names(own)}.`;
      }),
    ]),
    '',
  ];
}

const basePrice = (route: Route): string | undefined => {
  const base = route.endpoint.routes.find(({ kind }) => kind === 'base');
  return base && priceInWords(base);
};

function mirrorLine(network: string, members: readonly Sold[]): string {
  const [path] = members.map(({ route }) => route.path);
  const groups = [...grouped(members, ({ route }) => route.endpoint.group)].map(
    ([group, { length }]) => `${group} (${length})`,
  );
  const differing = members
    .filter(({ route }) => priceInWords(route) !== basePrice(route))
    .map(({ route }) => `${route.path} ${priceInWords(route)}`);
  const prices = differing.length === 0 ? 'Prices are the same.' : `Other prices: ${differing.join('; ')}.`;
  return `- ${network}, such as ${path}: ${groups.join(', ')}. ${prices}`;
}

/** One line for each network that has mirrors. */
export function mirrorLines(routes: readonly Route[], payable: Payable): string[] {
  const sold = soldAs('mirror', routes, payable);
  if (sold.length === 0) return [];
  return [
    '## Mirrors: the same endpoints, paid on another network',
    '',
    'A mirror has the path of its endpoint behind a prefix. Some take other fields or wrap the result as',
    '{"success", "data"}: /x402-resources has the schemas of each. In brackets: how many of a group are mirrored.',
    '',
    ...[...grouped(sold, ({ networks: [network] }) => networkInWords(network))].map(([network, members]) =>
      mirrorLine(network, members),
    ),
    '',
  ];
}

export function mppLines(routes: readonly Route[]): string[] {
  if (routes.length === 0) return [];
  return ['## Sold over MPP', '', ...routes.map((route) => line(route, '')), ''];
}

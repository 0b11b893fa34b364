/** `GET /llms.txt`: what is sold and how to buy it, for an agent that has never heard of the service. */
import type { Route, ServiceFile } from '../../catalogue/types.ts';
import { toDecimal } from '../../money.ts';
import { type Payable, type PayableNetwork, payableOn } from './payable.ts';
import { priceInWords } from './payment-info.ts';
import { requestFields, requiredFields } from './schemas.ts';
import { workedExample } from './worked-example.ts';

interface Sold {
  readonly route: Route;
  readonly networks: readonly PayableNetwork[];
}

function grouped<Item>(items: readonly Item[], keyOf: (item: Item) => string): [string, Item[]][] {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return [...groups];
}

const networkInWords = ({ network, binding }: PayableNetwork): string =>
  `${network.listedAs} (${binding.asset.symbol}, ${binding.caip2})`;

/** Required fields are marked with `*`. */
function fieldsInWords(route: Route): string {
  const required = requiredFields(route);
  const names = requestFields(route).map(([name]) => (required.includes(name) ? `${name}*` : name));
  return names.length === 0 ? 'no fields' : names.join(', ');
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

const describe = (route: Route): string =>
  `${route.path}: ${priceInWords(route)}. ${oneLine(route.endpoint.summary)}. Fields: ${fieldsInWords(route)}.`;

const bought = (method: string | undefined): string => (method === 'GET' ? '- GET ' : '- ');

function baseLine({ route, networks }: Sold, usual: string | undefined): string {
  const names = networks.map(({ network }) => network.listedAs).join(', ');
  return `${bought(route.methods[0])}${describe(route)}${names === usual ? '' : ` Paid on ${names}.`}`;
}

function baseSection(sold: readonly Sold[]): string[] {
  if (sold.length === 0) return [];
  const networks = new Map(sold.flatMap((each) => each.networks).map((each) => [each.network.id, each]));
  const [first] = sold.map((each) => each.networks.map(({ network }) => network.listedAs).join(', ')).sort(
    (left, right) => left.length - right.length,
  );
  return [
    '## Sold over x402',
    '',
    'POST with a JSON body unless the line says GET, which takes the fields in the query. Fields marked * are required.',
    `Paid on ${first} unless the line says otherwise. Networks: ${[...networks.values()].map(networkInWords).join('; ')}.`,
    '',
    ...grouped(sold, ({ route }) => route.endpoint.group).flatMap(([group, members]) => [
      `### ${group}`,
      ...members.map((member) => baseLine(member, first)),
      '',
    ]),
  ];
}

/** What `/llms.txt` says of paying over x402, and of what is sold: one line an endpoint, as Markdown. */
import type { Route } from '../../../catalogue/types.ts';
import { paragraph } from '../../../discovery/paragraph.ts';
import { type Payable, type PayableNetwork, payableOn } from '../../../discovery/payable.ts';
import { priceInWords } from '../../../discovery/payment-info.ts';
import { soldLine } from '../../../discovery/sold-line.ts';
import { toDecimal } from '../../../money.ts';
import { CREDITS_PATH } from '../../../paths.ts';
import type { ExposurePolicy } from '../../../payment/exposure/policy.ts';
import { upfrontOn, whereInWords } from './upfront.ts';
import { workedExample } from './worked-example.ts';

const paying = (otherPrefixes: readonly string[], { settleUpfront, hold, channels }: ExposurePolicy): string[] => [
  '## Paying with x402',
  paragraph(
    `Every path${otherPrefixes.length > 0 ? ` that does not begin with ${otherPrefixes.join(' or ')}` : ''}.`,
    'The 402 carries the challenge of version 2 in the header PAYMENT-REQUIRED',
    '(base64 of JSON) and the one of version 1 in its body. Each entry of `accepts` is one way to pay: network (CAIP-2),',
    'asset (token address), amount (atomic units: 50000 of a token with 6 decimals is 0.05), payTo. Sign one of them and',
    'send the payment in PAYMENT-SIGNATURE (version 2) or X-PAYMENT (version 1). The receipt comes back in',
    'PAYMENT-RESPONSE or X-PAYMENT-RESPONSE. Any x402 client does this for you, as in the example below. Some refuse more',
    'than 1 USD, or tokens that they do not know, unless they are told otherwise.',
  ),
  '',
  paragraph(
    'Where a line below says "settles first on", and wherever an entry of `accepts` has `extra.paymentFlow: "upfront"`, the',
    'payment settles before the work, since it would not be good for long enough; so do payments of more than',
    `${toDecimal(settleUpfront.above)} USD. Entries that settle after the result, and charge nothing for a call that fails, come first.`,
  ),
  '',
  ...(hold ? [HELD, ''] : []),
  ...(channels ? [DRAWN, ''] : []),
];

const HELD = paragraph(
  'Where a payment would settle first, an entry with the scheme `auth-capture` may stand before that: it locks the amount, which',
  'is taken after the work, or given back where the call fails or uses less. @x402/evm/auth-capture/client pays so. What was',
  'given back buys nothing any more: sign another.',
);

const DRAWN = paragraph(
  'Many small calls: an entry with the scheme `batch-settlement` draws the call from a deposit that its first call makes,',
  'so that no other takes a transaction, and goes down to 0.000001. @x402/evm/batch-settlement/client pays so, one call',
  'after the other; its `refund`, given the address /v1/channels, brings back what is left.',
);

const AS_IT_GOES = paragraph(
  'OpenAI clients: POST /v1/chat/completions with an API key, which POST /v1/credits sells. Where its balance does not cover a',
  'call, that 402 asks in PAYMENT-REQUIRED for what the call may cost: send the payment with the key.',
);

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

/** The networks that most are paid on. */
function usualNetworks(sold: readonly Sold[]): string {
  const [first] = [...grouped(sold, ({ networks }) => names(networks))].sort(
    ([, left], [, right]) => right.length - left.length,
  );
  return first?.[0] ?? '';
}

/** `Settles first on chain-a.`; a sentence for each set of requests that do. */
function upfrontInWords(route: Route, own: Sold['networks'], policy: ExposurePolicy): string[] {
  const byWords = new Map<string, Sold['networks'][number][]>();
  for (const each of own) {
    const where = upfrontOn(each.network, route, policy);
    if (where === undefined) continue;
    const words = whereInWords(where);
    byWords.set(words, [...(byWords.get(words) ?? []), each]);
  }
  return [...byWords].map(([words, networks]) => `Settles first on ${names(networks)}${words}.`);
}

/** Base routes, group by group as their files are. */
function baseSection(sold: readonly Sold[], policy: ExposurePolicy): string[] {
  if (sold.length === 0) return [];
  const usual = usualNetworks(sold);
  const networks = new Map(sold.flatMap((each) => each.networks).map((each) => [each.network.id, each]));
  return [
    '## Sold over x402',
    'POST with a JSON body; GET, where a line says so, with a query. Fields marked * are required.',
    `Paid on ${usual} unless a line names others. The networks: ${[...networks.values()].map(networkInWords).join(', ')}.`,
    '',
    ...sold.map(({ route, networks: own }) => {
      const text = soldLine(route, route.methods[0] === 'GET' ? 'GET ' : '');
      const paid = names(own) === usual ? text : `${text} Paid on ${names(own)}.`;
      return [paid, ...upfrontInWords(route, own, policy)].join(' ');
    }),
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
function mirrorSection(sold: readonly Sold[]): string[] {
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

/**
 * `publicUrl` without a trailing slash; `otherPrefixes`: see RailDocumentParts.
 */
export const x402Paying = (
  routes: readonly Route[],
  payable: Payable,
  publicUrl: string,
  otherPrefixes: readonly string[],
  policy: ExposurePolicy,
): string[] => [
  ...(soldAs('base', routes, payable).length > 0 ? paying(otherPrefixes, policy) : []),
  ...(routes.some(({ path }) => path === CREDITS_PATH) ? [AS_IT_GOES, ''] : []),
  ...workedExample(routes, payable, publicUrl, policy),
];

export const x402Sold = (routes: readonly Route[], payable: Payable, policy: ExposurePolicy): string[] => [
  ...baseSection(soldAs('base', routes, payable), policy),
  ...mirrorSection(soldAs('mirror', routes, payable)),
];

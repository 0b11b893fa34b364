/** What `/llms.txt` says of paying over MPP, and of what is sold. */
import type { Route } from '../../../catalogue/types.ts';
import { paragraph } from '../../../discovery/paragraph.ts';
import { quoted, shellBlock } from '../../../discovery/shell.ts';
import { soldLine } from '../../../discovery/sold-line.ts';
import { toDecimal } from '../../../money.ts';
import type { ExposurePolicy } from '../../../payment/exposure/policy.ts';
import type { MppOffer } from '../rail.ts';

/** A route, and what it can be paid with. */
export interface SoldOverMpp {
  readonly route: Route;
  readonly offers: readonly MppOffer[];
}

const paying = ({ settleUpfront }: ExposurePolicy): string[] => [
  '## Paying with MPP',
  paragraph(
    'Every path that begins with /mpp, by GET with a query or by POST with a body. The 402 carries one challenge for each',
    'method of payment in WWW-Authenticate: Payment ... Pay one and send the request again with the header',
    'Authorization: Payment <credential>. The receipt comes back in Payment-Receipt.',
  ),
  '',
  paragraph(
    'Where a line below says "Settles first with", and wherever a challenge has `paymentFlow: "upfront"` in',
    '`request.methodDetails`, the payment settles before the work; so do payments of more than',
    `${toDecimal(settleUpfront.above)} USD. Challenges that settle after the result, and charge nothing for a call that fails, come first.`,
  ),
  '',
  paragraph(
    'A client that does all this, with a funded key in MPPX_PRIVATE_KEY, and asks the node in MPPX_RPC_URL or, unset, a',
    'public one.',
  ),
];

/** In words, where the method's name does not say it. */
const WHERE: Readonly<Record<string, string>> = { evm: 'on an EVM network (EIP-3009)', tempo: 'on Tempo' };

/** How to pay, with a call of the first route as an example for each method. `publicUrl` without a trailing slash. */
export function mppPaying([example]: readonly SoldOverMpp[], publicUrl: string, policy: ExposurePolicy): string[] {
  if (!example) return [];
  const { route, offers } = example;
  const body = quoted(JSON.stringify(route.example));
  const paidBy = offers.flatMap(({ method, currency }) => [
    `Paid ${WHERE[method] ?? `by ${method}`}:`,
    ...shellBlock(`npx mppx --currency ${currency} -J ${body} ${publicUrl}${route.path}`),
  ]);
  return [...paying(policy), ...paidBy, ''];
}

export function mppSold(routes: readonly SoldOverMpp[]): string[] {
  if (routes.length === 0) return [];
  const line = ({ route, offers }: SoldOverMpp): string => {
    const upfront = offers.filter(({ paymentFlow }) => paymentFlow === 'upfront').map(({ method }) => method);
    const text = soldLine(route, '');
    return upfront.length === 0 ? text : `${text} Settles first with the method ${upfront.join(', ')}.`;
  };
  return ['## Sold over MPP', ...routes.map(line), ''];
}

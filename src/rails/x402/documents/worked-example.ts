/** A paid x402 call from start to end, made of a route that is really sold. */
import type { Route } from '../../../catalogue/types.ts';
import { exampleCall } from '../../../discovery/example-call.ts';
import { paragraph } from '../../../discovery/paragraph.ts';
import { type Payable, type PayableNetwork, payableOn } from '../../../discovery/payable.ts';
import { priceInWords } from '../../../discovery/payment-info.ts';
import { nodeProgram, pythonProgram, quoted, shellBlock } from '../../../discovery/shell.ts';
import type { ExposurePolicy } from '../../../payment/exposure/policy.ts';
import { x402PaymentInfo } from './payment-info.ts';
import { inJavaScript, inPython } from './programs.ts';

interface Example {
  readonly route: Route;
  readonly network: PayableNetwork;
}

type Family = PayableNetwork['network']['family'];

/** The cheapest call of one price, on a network of the family where one is named: POST, so that the body is seen as well. */
function choose(routes: readonly Route[], payable: Payable, family?: Family): Example | undefined {
  const candidates = routes.flatMap((route): Example[] => {
    const network = payableOn(route, payable).find((each) => !family || each.network.family === family);
    const plain = route.kind === 'base' && route.methods[0] === 'POST' && route.price.fixed;
    return plain && network ? [{ route, network }] : [];
  });
  const cost = ({ route }: Example) => route.listing.price;
  return candidates.reduce<Example | undefined>(
    (cheapest, candidate) => (cheapest && cost(cheapest) <= cost(candidate) ? cheapest : candidate),
    undefined,
  );
}

const WHERE: Readonly<Record<Family, string>> = { evm: 'On EVM networks', solana: 'On Solana' };

function javaScript({ route, network: { network, binding } }: Example, publicUrl: string): string[] {
  const { packages, lines } = inJavaScript(exampleCall(route, publicUrl), network.family, binding.caip2);
  return [`${WHERE[network.family]}, with \`npm install ${packages}\`:`, ...shellBlock(...nodeProgram(lines))];
}

function python({ route }: Example, publicUrl: string): string[] {
  const { packages, lines } = inPython(exampleCall(route, publicUrl));
  return [`The same in Python, with \`pip install '${packages}'\`:`, ...shellBlock(...pythonProgram(lines))];
}

const inline = (value: unknown): string => `\`${JSON.stringify(value)}\``;

/** Lines of Markdown; none where nothing suits. `publicUrl` without a trailing slash. */
export function workedExample(
  routes: readonly Route[],
  payable: Payable,
  publicUrl: string,
  policy: ExposurePolicy,
): string[] {
  const example = choose(routes, payable);
  if (!example) return [];
  const { route, network } = example;
  const [offer] = x402PaymentInfo(route, [network], policy).offers;
  const { scheme, network: chain, amount, currency: asset, payTo } = offer ?? {};
  const [evm, solana] = [choose(routes, payable, 'evm'), choose(routes, payable, 'solana')];
  return [
    '## A paid call from start to end',
    `This one costs ${priceInWords(route)}. Without a payment the answer is the price, and nothing is charged:`,
    ...shellBlock(
      `curl -i ${publicUrl}${route.path} -H 'content-type: application/json' -d ${quoted(JSON.stringify(route.example))}`,
    ),
    paragraph(
      '402, with the header PAYMENT-REQUIRED, which is base64 of (shortened)',
      `${inline({ x402Version: 2, accepts: [{ scheme, network: chain, amount, asset, payTo }] })}.`,
      'A client signs one entry of accepts and sends the same request again.',
    ),
    '',
    ...(evm ? [...javaScript(evm, publicUrl), ...python(evm, publicUrl)] : []),
    ...(solana ? javaScript(solana, publicUrl) : []),
    `The receipt names the transaction. The result of the first looks like this: ${inline(route.resultExample)}`,
    '',
  ];
}

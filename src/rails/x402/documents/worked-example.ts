/** A paid x402 call from start to end, made of a route that is really sold. */
import type { Route } from '../../../catalogue/types.ts';
import { type Payable, type PayableNetwork, payableOn } from '../../../discovery/payable.ts';
import { priceInWords } from '../../../discovery/payment-info.ts';
import { nodeProgram, quoted, shellBlock } from '../../../discovery/shell.ts';
import { x402PaymentInfo } from './payment-info.ts';

interface Example {
  readonly route: Route;
  readonly network: PayableNetwork;
}

/** The cheapest call of one price: POST, so that the body is seen as well. */
function choose(routes: readonly Route[], payable: Payable): Example | undefined {
  const candidates = routes.flatMap((route): Example[] => {
    const [network] = payableOn(route, payable);
    const plain = route.kind === 'base' && route.methods[0] === 'POST' && route.price.fixed;
    return plain && network ? [{ route, network }] : [];
  });
  const cost = ({ route }: Example) => route.listing.price;
  return candidates.reduce<Example | undefined>(
    (cheapest, candidate) => (cheapest && cost(cheapest) <= cost(candidate) ? cheapest : candidate),
    undefined,
  );
}

/** Keys are in the variables that x402's own examples read. */
const WALLETS = {
  evm: {
    packages: '@x402/fetch @x402/evm viem',
    code: [
      "import { ExactEvmScheme } from '@x402/evm/exact/client';",
      "import { privateKeyToAccount } from 'viem/accounts';",
      'const scheme = new ExactEvmScheme(privateKeyToAccount(process.env.EVM_PRIVATE_KEY)); // 0x and 64 hex digits',
    ],
  },
  solana: {
    packages: '@x402/fetch @x402/svm @solana/kit@5',
    code: [
      "import { ExactSvmScheme } from '@x402/svm/exact/client';",
      "import { createKeyPairSignerFromBytes, getBase58Encoder } from '@solana/kit';",
      'const keyPair = getBase58Encoder().encode(process.env.SVM_PRIVATE_KEY); // secret key in base58, 64 bytes',
      'const signer = await createKeyPairSignerFromBytes(keyPair);',
      'const scheme = new ExactSvmScheme(signer, { rpcUrl: process.env.SVM_RPC_URL }); // unset: a public node',
    ],
  },
} as const;

const indented = (value: unknown): string => `    ${JSON.stringify(value)}`;

/** Lines of Markdown; none where nothing suits. `publicUrl` without a trailing slash. */
export function workedExample(routes: readonly Route[], payable: Payable, publicUrl: string): string[] {
  const example = choose(routes, payable);
  if (!example) return [];
  const { route, network } = example;
  const url = publicUrl + route.path;
  const body = JSON.stringify(route.example);
  const { packages, code } = WALLETS[network.network.family];
  const [offer] = x402PaymentInfo(route, [network]).offers;
  const { scheme, network: chain, amount, currency: asset, payTo } = offer ?? {};
  return [
    '## A paid call from start to end',
    '',
    `This one costs ${priceInWords(route)}. Without a payment the answer is the price, and nothing is charged:`,
    '',
    ...shellBlock(`curl -i ${url} -H 'content-type: application/json' -d ${quoted(body)}`),
    '',
    '402, with the header PAYMENT-REQUIRED, which is base64 of (shortened):',
    '',
    indented({ x402Version: 2, accepts: [{ scheme, network: chain, amount, asset, payTo }] }),
    '',
    `A client signs one entry of accepts and sends the same request again. With \`npm install ${packages}\`:`,
    '',
    ...shellBlock(
      ...nodeProgram([
        "import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch';",
        ...code,
        `const pay = wrapFetchWithPayment(fetch, new x402Client().register(${JSON.stringify(chain)}, scheme));`,
        `const answer = await pay(${JSON.stringify(url)}, {`,
        "  method: 'POST',",
        "  headers: { 'content-type': 'application/json' },",
        `  body: JSON.stringify(${body}),`,
        '});',
        "console.log(decodePaymentResponseHeader(answer.headers.get('payment-response')), await answer.json());",
      ]),
    ),
    '',
    'The receipt names the transaction. The result looks like this:',
    '',
    indented(route.resultExample),
    '',
  ];
}

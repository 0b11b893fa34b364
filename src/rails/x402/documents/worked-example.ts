/** A paid x402 call from start to end, made of a route that is really sold. */
import type { Route } from '../../../catalogue/types.ts';
import { paragraph } from '../../../discovery/paragraph.ts';
import { type Payable, type PayableNetwork, payableOn } from '../../../discovery/payable.ts';
import { priceInWords } from '../../../discovery/payment-info.ts';
import { nodeProgram, pythonProgram, quoted, shellBlock } from '../../../discovery/shell.ts';
import { x402PaymentInfo } from './payment-info.ts';

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

/** Keys are in the variables that x402's own examples read. */
const WALLETS = {
  evm: {
    where: 'On EVM networks',
    packages: '@x402/fetch @x402/evm viem',
    code: [
      "import { ExactEvmScheme } from '@x402/evm/exact/client';",
      "import { privateKeyToAccount } from 'viem/accounts';",
      'const scheme = new ExactEvmScheme(privateKeyToAccount(process.env.EVM_PRIVATE_KEY)); // 0x and 64 hex digits',
    ],
  },
  solana: {
    where: 'On Solana',
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

const bodyOf = ({ route }: Example): string => JSON.stringify(route.example);

function inJavaScript(example: Example, publicUrl: string): string[] {
  const { where, packages, code } = WALLETS[example.network.network.family];
  const chain = JSON.stringify(example.network.binding.caip2);
  return [
    `${where}, with \`npm install ${packages}\`:`,
    ...shellBlock(
      ...nodeProgram([
        "import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch';",
        ...code,
        `const pay = wrapFetchWithPayment(fetch, new x402Client().register(${chain}, scheme));`,
        `const [method, headers, body] = ['POST', { 'content-type': 'application/json' }, JSON.stringify(${bodyOf(example)})];`,
        `const answer = await pay(${JSON.stringify(publicUrl + example.route.path)}, { method, headers, body });`,
        "console.log(decodePaymentResponseHeader(answer.headers.get('payment-response')), await answer.json());",
      ]),
    ),
  ];
}

/** Source: the package x402 of PyPI, version 2, README and examples. A string of JSON is one of Python as well. */
const inPython = (example: Example, publicUrl: string): string[] => [
  "The same in Python, with `pip install 'x402[requests,evm]'`:",
  ...shellBlock(
    ...pythonProgram([
      'import os',
      'from eth_account import Account',
      'from x402 import x402ClientSync',
      'from x402.http.clients import x402_requests',
      'from x402.mechanisms.evm import EthAccountSigner',
      'from x402.mechanisms.evm.exact.register import register_exact_evm_client',
      'client = x402ClientSync()',
      "register_exact_evm_client(client, EthAccountSigner(Account.from_key(os.environ['EVM_PRIVATE_KEY'])))",
      `body, headers = ${JSON.stringify(bodyOf(example))}, {'content-type': 'application/json'}`,
      `answer = x402_requests(client).post(${JSON.stringify(publicUrl + example.route.path)}, data=body, headers=headers)`,
      "print(answer.headers['payment-response'], answer.json())",
    ]),
  ),
];

const inline = (value: unknown): string => `\`${JSON.stringify(value)}\``;

/** Lines of Markdown; none where nothing suits. `publicUrl` without a trailing slash. */
export function workedExample(routes: readonly Route[], payable: Payable, publicUrl: string): string[] {
  const example = choose(routes, payable);
  if (!example) return [];
  const { route, network } = example;
  const [offer] = x402PaymentInfo(route, [network]).offers;
  const { scheme, network: chain, amount, currency: asset, payTo } = offer ?? {};
  const [evm, solana] = [choose(routes, payable, 'evm'), choose(routes, payable, 'solana')];
  return [
    '## A paid call from start to end',
    `This one costs ${priceInWords(route)}. Without a payment the answer is the price, and nothing is charged:`,
    ...shellBlock(
      `curl -i ${publicUrl}${route.path} -H 'content-type: application/json' -d ${quoted(bodyOf(example))}`,
    ),
    paragraph(
      '402, with the header PAYMENT-REQUIRED, which is base64 of (shortened)',
      `${inline({ x402Version: 2, accepts: [{ scheme, network: chain, amount, asset, payTo }] })}.`,
      'A client signs one entry of accepts and sends the same request again.',
    ),
    '',
    ...(evm ? [...inJavaScript(evm, publicUrl), ...inPython(evm, publicUrl)] : []),
    ...(solana ? inJavaScript(solana, publicUrl) : []),
    `The receipt names the transaction. The result of the first looks like this: ${inline(route.resultExample)}`,
    '',
  ];
}

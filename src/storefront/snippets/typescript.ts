import type { NetworkFile } from '../../catalogue/types.ts';
import type { ExampleCall } from './call.ts';
import type { Snippet } from './snippet.ts';

interface Wallet {
  readonly packages: string;
  readonly variables: string;
  readonly lines: readonly string[];
}

/** Keys are in the variables that x402's own examples read. */
const WALLETS: Readonly<Record<NetworkFile['family'], Wallet>> = {
  evm: {
    packages: '@x402/fetch @x402/evm viem',
    variables: 'EVM_PRIVATE_KEY',
    lines: [
      "import { ExactEvmScheme } from '@x402/evm/exact/client';",
      "import { privateKeyToAccount } from 'viem/accounts';",
      '',
      'const scheme = new ExactEvmScheme(privateKeyToAccount(process.env.EVM_PRIVATE_KEY));',
    ],
  },
  solana: {
    packages: '@x402/fetch @x402/svm @solana/kit@5',
    variables: 'SVM_PRIVATE_KEY (in base58)',
    lines: [
      "import { ExactSvmScheme } from '@x402/svm/exact/client';",
      "import { createKeyPairSignerFromBytes, getBase58Encoder } from '@solana/kit';",
      '',
      'const key = getBase58Encoder().encode(process.env.SVM_PRIVATE_KEY);',
      'const scheme = new ExactSvmScheme(await createKeyPairSignerFromBytes(key), { rpcUrl: process.env.SVM_RPC_URL });',
    ],
  },
};

/** `network`: the CAIP-2 id of the one that is paid on. */
export function typescript(
  { method, url, body }: ExampleCall,
  family: NetworkFile['family'],
  network: string,
): Snippet {
  const { packages, variables, lines } = WALLETS[family];
  const options =
    body === undefined
      ? []
      : [
          `  method: ${JSON.stringify(method)},`,
          "  headers: { 'content-type': 'application/json' },",
          `  body: JSON.stringify(${body}),`,
        ];
  return {
    id: 'typescript',
    title: 'TypeScript',
    note: `Pays. Needs npm install ${packages}, and a funded key in ${variables}.`,
    language: 'js',
    text: [
      "import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch';",
      ...lines,
      `const pay = wrapFetchWithPayment(fetch, new x402Client().register(${JSON.stringify(network)}, scheme));`,
      ...(options.length === 0
        ? [`const answer = await pay(${JSON.stringify(url)});`]
        : [`const answer = await pay(${JSON.stringify(url)}, {`, ...options, '});']),
      'console.log(await answer.text());',
      "console.log(decodePaymentResponseHeader(answer.headers.get('payment-response')));",
    ].join('\n'),
  };
}

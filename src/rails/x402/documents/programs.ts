/** A paid x402 call as a program, in the published clients' words. */
import type { NetworkFile } from '../../../catalogue/types.ts';
import type { ExampleCall } from '../../../discovery/example-call.ts';

export interface Program {
  /** To be given to the language's installer. */
  readonly packages: string;
  /** The variable that holds the payer's key. */
  readonly key: string;
  readonly lines: readonly string[];
}

/** Keys are in the variables that x402's own examples read. */
const WALLETS = {
  evm: {
    packages: '@x402/fetch @x402/evm viem',
    key: 'EVM_PRIVATE_KEY',
    lines: [
      "import { ExactEvmScheme } from '@x402/evm/exact/client';",
      "import { privateKeyToAccount } from 'viem/accounts';",
      'const scheme = new ExactEvmScheme(privateKeyToAccount(process.env.EVM_PRIVATE_KEY)); // 0x and 64 hex digits',
    ],
  },
  /** The same key, by a deposit from which every later call is drawn: what became of it outlives the program. */
  deposit: {
    packages: '@x402/fetch @x402/evm viem',
    key: 'EVM_PRIVATE_KEY',
    lines: [
      "import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/client';",
      "import { FileClientChannelStorage } from '@x402/evm/batch-settlement/client/file-storage';",
      "import { privateKeyToAccount } from 'viem/accounts';",
      "const storage = new FileClientChannelStorage({ directory: '.channels' });",
      'const account = privateKeyToAccount(process.env.EVM_PRIVATE_KEY); // 0x and 64 hex digits',
      'const scheme = new BatchSettlementEvmScheme(account, { storage });',
    ],
  },
  solana: {
    packages: '@x402/fetch @x402/svm @solana/kit@5',
    key: 'SVM_PRIVATE_KEY',
    lines: [
      "import { ExactSvmScheme } from '@x402/svm/exact/client';",
      "import { createKeyPairSignerFromBytes, getBase58Encoder } from '@solana/kit';",
      'const keyPair = getBase58Encoder().encode(process.env.SVM_PRIVATE_KEY); // secret key in base58, 64 bytes',
      'const signer = await createKeyPairSignerFromBytes(keyPair);',
      'const scheme = new ExactSvmScheme(signer, { rpcUrl: process.env.SVM_RPC_URL }); // unset: a public node',
    ],
  },
} as const;

const callInJavaScript = ({ url, body }: ExampleCall): string[] =>
  body === undefined
    ? [`const answer = await pay(${JSON.stringify(url)});`]
    : [
        `const [method, headers, body] = ['POST', { 'content-type': 'application/json' }, JSON.stringify(${body})];`,
        `const answer = await pay(${JSON.stringify(url)}, { method, headers, body });`,
      ];

/** `chain`: the CAIP-2 id of the network that it pays on, by a transfer for the call alone or from a deposit. */
export function inJavaScript(call: ExampleCall, way: NetworkFile['family'] | 'deposit', chain: string): Program {
  const { packages, key, lines } = WALLETS[way];
  return {
    packages,
    key,
    lines: [
      "import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch';",
      ...lines,
      `const pay = wrapFetchWithPayment(fetch, new x402Client().register(${JSON.stringify(chain)}, scheme));`,
      ...callInJavaScript(call),
      "console.log(decodePaymentResponseHeader(answer.headers.get('payment-response')), await answer.json());",
    ],
  };
}

/** A string of JSON is one of Python as well. */
const callInPython = ({ url, body }: ExampleCall): string[] =>
  body === undefined
    ? [`answer = x402_requests(client).get(${JSON.stringify(url)})`]
    : [
        `body, headers = ${JSON.stringify(body)}, {'content-type': 'application/json'}`,
        `answer = x402_requests(client).post(${JSON.stringify(url)}, data=body, headers=headers)`,
      ];

/** On EVM networks. Source: the Python package x402, version 2, README and examples. */
export const inPython = (call: ExampleCall): Program => ({
  packages: 'x402[requests,evm]',
  key: 'EVM_PRIVATE_KEY',
  lines: [
    'import os',
    'from eth_account import Account',
    'from x402 import x402ClientSync',
    'from x402.http.clients import x402_requests',
    'from x402.mechanisms.evm import EthAccountSigner',
    'from x402.mechanisms.evm.exact.register import register_exact_evm_client',
    'client = x402ClientSync()',
    "register_exact_evm_client(client, EthAccountSigner(Account.from_key(os.environ['EVM_PRIVATE_KEY'])))",
    ...callInPython(call),
    "print(answer.headers['payment-response'], answer.json())",
  ],
});

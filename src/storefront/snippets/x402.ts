import type { ExampleCall } from '../../discovery/example-call.ts';
import type { PayableNetwork } from '../../discovery/payable.ts';
import { inJavaScript, inPython } from '../../rails/x402/documents/programs.ts';
import { networkName } from '../shown.ts';
import type { Snippet } from './snippet.ts';

export function typescript(call: ExampleCall, { network, binding }: PayableNetwork): Snippet {
  const { packages, key, lines } = inJavaScript(call, network.family, binding.caip2);
  return {
    id: 'typescript',
    title: 'TypeScript',
    note: `Pays on ${networkName(network.id)}. Needs npm install ${packages}, and a funded key in ${key}.`,
    language: 'js',
    text: lines.join('\n'),
  };
}

/** For EVM networks. */
export function fromDeposit(call: ExampleCall, { network, binding }: PayableNetwork): Snippet {
  const { packages, key, lines } = inJavaScript(call, 'deposit', binding.caip2);
  return {
    id: 'deposit',
    title: 'TypeScript, from a deposit',
    note: `Deposits on ${networkName(network.id)} with the first call, and draws each later one from that without a transaction, where the challenge offers batch-settlement. Needs npm install ${packages}, and a funded key in ${key}.`,
    language: 'js',
    text: lines.join('\n'),
  };
}

export function python(call: ExampleCall): Snippet {
  const { packages, key, lines } = inPython(call);
  return {
    id: 'python',
    title: 'Python',
    note: `Pays. Needs pip install '${packages}', and a funded key in ${key}.`,
    language: 'python',
    text: lines.join('\n'),
  };
}

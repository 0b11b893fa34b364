import type { ExampleCall } from '../../discovery/example-call.ts';
import { quoted } from '../../discovery/shell.ts';
import type { Snippet } from './snippet.ts';

export const mppx = ({ url, body }: ExampleCall): Snippet => ({
  id: 'mppx',
  title: 'mppx',
  note: 'Pays over MPP. Needs a funded key in MPPX_PRIVATE_KEY.',
  language: 'sh',
  text: ['npx mppx', ...(body === undefined ? [] : [`-J ${quoted(body)}`]), quoted(url)].join(' '),
});

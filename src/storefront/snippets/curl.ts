import type { ExampleCall } from '../../discovery/example-call.ts';
import { quoted } from '../../discovery/shell.ts';
import type { Snippet } from './snippet.ts';

export const curl = ({ url, body }: ExampleCall): Snippet => ({
  id: 'curl',
  title: 'curl',
  note: 'Tells the exact price, and what is wrong with a request. Costs nothing.',
  language: 'sh',
  text: [
    `curl -i ${quoted(url)}`,
    ...(body === undefined ? [] : ["-H 'content-type: application/json'", `-d ${quoted(body)}`]),
  ].join(' \\\n  '),
});

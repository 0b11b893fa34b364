/** `GET /llms.txt`: what is sold and how to buy it, for an agent that has never heard of the service. Under 200 lines. */
import type { ServiceFile } from '../catalogue/types.ts';
import { mcpLine } from './mcp.ts';
import { paragraph } from './paragraph.ts';
import type { RailDocument, RailDocuments } from './rail-documents.ts';
import { sandboxVariables } from './sandbox-variables.ts';
import { shellBlock } from './shell.ts';

const FAILURES = [
  '## When the answer is not 200',
  '- 400: the request is not valid. 402: it is not paid, and why. Neither charges anything.',
  '- 409: your payment is being worked on. Send the same again in a moment. With code `identifier_taken` another payment came with your payment-identifier, and nothing was charged: take another one.',
  paragraph(
    '- 500: the call failed and is not charged. Only where the code is `result_owed` have you paid, because the payment',
    'settled first: the same payment with the same request gets the result later, without a new charge; where the message',
    'says that it was refused for good, it is refunded instead.',
  ),
  '',
  'Errors are JSON, `{"error": {"code", "message", "details", "requestId"}}`; decide by `code`.',
  '',
];

const sandboxNote = (publicUrl: string): string[] => [
  paragraph(
    'This is a sandbox: the chains are local, the money is play money and the providers are doubles. Funded wallets and',
    `the chains' addresses are at ${publicUrl}/sandbox; its \`environment\` has the variables that the examples below read.`,
    'This sets them:',
  ),
  '',
  ...shellBlock(sandboxVariables(publicUrl)),
  '',
];

/** A well-known document (RFC 8615) speaks of the origin and comes after those that list what is sold. */
const isWellKnown = ({ path }: RailDocument): boolean => path.startsWith('/.well-known/');

/** `publicUrl` without a trailing slash; `documents`: those that programs read. */
export function llmsText(
  service: ServiceFile,
  mode: 'live' | 'sandbox',
  publicUrl: string,
  rails: readonly RailDocuments[],
  documents: readonly RailDocument[],
): string {
  const forPrograms = [...documents.filter((each) => !isWellKnown(each)), ...documents.filter(isWellKnown)];
  const lines = [
    `# ${service.name}`,
    '',
    `> ${service.description.replace(/\s+/g, ' ').trim()}`,
    '',
    ...(mode === 'sandbox' ? sandboxNote(publicUrl) : []),
    service.instructions.trim(),
    '',
    ...rails.flatMap(({ llms }) => llms.paying),
    ...FAILURES,
    ...rails.flatMap(({ llms }) => llms.sold),
    '## The same for programs',
    mcpLine(publicUrl),
    ...forPrograms.map(({ path, summary }) => `- ${publicUrl}${path}: ${summary}`),
  ];
  return `${lines.join('\n')}\n`;
}

/** `GET /llms.txt`: what is sold and how to buy it, for an agent that has never heard of the service. Under 200 lines. */
import type { Route, ServiceFile } from '../../catalogue/types.ts';
import type { Payable } from './payable.ts';
import { baseLines, mirrorLines, mppLines } from './price-list.ts';
import { workedExample } from './worked-example.ts';

/** One line, however long: agents read lines, not pages. */
const paragraph = (...sentences: readonly string[]): string => sentences.join(' ');

const FAILURES = [
  '## When the answer is not 200',
  '',
  '- 400: the request is not valid. 402: it is not paid, and why. Neither charges anything.',
  '- 409: your payment is being worked on. Send the same again in a moment.',
  paragraph(
    '- 500: the call failed and is not charged. Only where the code is `result_owed` have you paid: the same payment with',
    'the same request gets the result later, without a new charge.',
  ),
  '',
  'Errors are JSON, `{"error": {"code", "message", "details", "requestId"}}`; decide by `code`.',
  '',
];

const X402 = [
  '## Paying with x402',
  '',
  paragraph(
    'Every path that does not begin with /mpp. The 402 carries the challenge of version 2 in the header PAYMENT-REQUIRED',
    '(base64 of JSON) and the one of version 1 in its body. Each entry of `accepts` is one way to pay: network (CAIP-2),',
    'asset (token address), amount (atomic units: 50000 of a token with 6 decimals is 0.05), payTo. Sign one of them and',
    'send the payment in PAYMENT-SIGNATURE (version 2) or X-PAYMENT (version 1). The receipt comes back in',
    'PAYMENT-RESPONSE or X-PAYMENT-RESPONSE. Any x402 client does this for you, as in the example below. Some refuse more',
    'than 1 USD, or tokens that they do not know, unless they are told otherwise.',
  ),
  '',
];

const MPP = [
  '## Paying with MPP',
  '',
  paragraph(
    'Every path that begins with /mpp, by GET with a query or by POST with a body. The 402 carries one challenge for each',
    'method of payment in WWW-Authenticate: Payment ... Pay one and send the request again with the header',
    'Authorization: Payment <credential>. The receipt comes back in Payment-Receipt. A client that does all this, with a',
    'funded key in MPPX_PRIVATE_KEY:',
  ),
  '',
];

const sandboxNote = (publicUrl: string): string[] => [
  paragraph(
    'This is a sandbox: the chains are local, the money is play money and the providers are doubles. Funded wallets and',
    `the chains' addresses are at ${publicUrl}/sandbox; take WALLET_KEY and WALLET_RPC_URL of the example below from there.`,
  ),
  '',
];

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function mppCall(route: Route, publicUrl: string): string[] {
  const body = quoted(JSON.stringify(route.example));
  return [`    npx mppx -J ${body} ${publicUrl}${route.path}`, ''];
}

/** `publicUrl` without a trailing slash; `mpp`: the MPP routes that can be paid. */
export function llmsText(
  service: ServiceFile,
  routes: readonly Route[],
  mpp: readonly Route[],
  payable: Payable,
  publicUrl: string,
): string {
  const base = baseLines(routes, payable);
  const [mppExample] = mpp;
  const lines = [
    `# ${service.name}`,
    '',
    `> ${service.description.replace(/\s+/g, ' ').trim()}`,
    '',
    ...(payable.mode === 'sandbox' ? sandboxNote(publicUrl) : []),
    service.instructions.trim(),
    '',
    ...(base.length > 0 ? X402 : []),
    ...workedExample(routes, payable, publicUrl),
    ...(mppExample ? [...MPP, ...mppCall(mppExample, publicUrl)] : []),
    ...FAILURES,
    ...base,
    ...mirrorLines(routes, payable),
    ...mppLines(mpp),
    '## The same for programs',
    '',
    `- ${publicUrl}/x402-resources: everything sold over x402, with prices and JSON Schemas of requests and results`,
    `- ${publicUrl}/openapi/x402.json: the same as OpenAPI 3.1`,
    `- ${publicUrl}/openapi.json: what is sold over MPP, as OpenAPI 3.1`,
    `- ${publicUrl}/.well-known/x402: the addresses of all x402 resources, and proofs of who owns this origin`,
  ];
  return `${lines.join('\n')}\n`;
}

/** `npm run import`: the operations of an OpenAPI document, or the tools of an MCP server, as endpoints of the catalogue. */
import './broken-pipe.ts';
import { shipped } from '../gateway/shipped.ts';
import { toDecimal } from '../money.ts';
import { dollars, run } from './command.ts';
import { readOperands, UsageProblem } from './command-line.ts';
import { importFrom } from './import/importer.ts';
import { readDocumentOf } from './import/openapi.ts';
import { printed } from './import/print.ts';
import { readToolsOf } from './import/tools.ts';

const USAGE = `npm run import -- <openapi.yaml, .json or https URL> --price 0.01
npm run import -- <https URL> --mcp --price 0.01

  writes an upstream and an endpoint for each operation of an OpenAPI document (3.0, 3.1, Swagger 2.0), or each tool of an
  MCP server; never overwrites

  --price 0.01         what a call costs, in dollars
  --operation id       only this operation, or tool; may be given again. Also takes "GET /path"
  --group name         the endpoints' group, first in their paths (default: the upstream's name)
  --upstream name      its name in upstreams.yaml (default: from the provider's host)
  --base-url https://  in place of the document's first server
  --mcp                the URL is that of an MCP server
  --bearer VARIABLE    the environment variable of the key that the MCP server takes as a bearer token
  --catalogue dir      default: TURNPIKE_CATALOGUE, or catalogue`;

const OPTIONS = {
  price: { type: 'string' },
  operation: { type: 'string', multiple: true },
  group: { type: 'string' },
  upstream: { type: 'string' },
  'base-url': { type: 'string' },
  mcp: { type: 'boolean' },
  bearer: { type: 'string' },
  catalogue: { type: 'string' },
} as const;

function bearerOf(variable: string | undefined) {
  if (variable === undefined) return undefined;
  if (!/^[A-Z][A-Z0-9_]*$/.test(variable)) {
    throw new UsageProblem('--bearer takes the name of an environment variable, in capital letters, and not the key');
  }
  const key = process.env[variable];
  if (!key) throw new UsageProblem(`--bearer: write the server's key into the environment variable ${variable}`);
  return { variable, key };
}

await run(async () => {
  const { values, positionals } = readOperands(USAGE, OPTIONS, process.argv.slice(2));
  const [source, ...others] = positionals;
  if (source === undefined || others.length > 0) throw new UsageProblem(`name one document\n\n${USAGE}`);
  if (values.price === undefined) throw new UsageProblem(`--price says what a call costs\n\n${USAGE}`);
  const price = dollars('--price', values.price);
  if (price === 0n) throw new UsageProblem('--price: a call that costs nothing cannot be sold; it takes "0.01"');
  for (const option of ['group', 'upstream'] as const) {
    const name = values[option];
    if (name === undefined || /^[a-z0-9][a-z0-9-]*$/.test(name)) continue;
    throw new UsageProblem(`--${option} takes lower-case letters, digits and "-": got ${name}`);
  }
  const catalogue = values.catalogue ?? process.env.TURNPIKE_CATALOGUE ?? 'catalogue';
  const { group, upstream, operation: operations = [], 'base-url': baseUrl, mcp, bearer } = values;
  if (mcp ? baseUrl !== undefined : bearer !== undefined) {
    throw new UsageProblem(mcp ? '--base-url is for a document: the URL is the server' : '--bearer is for --mcp');
  }
  const options = { source, catalogue, price: toDecimal(price), operations, group, upstream };
  const tell = (line: string) => void process.stderr.write(`${line}\n`);
  const report = mcp
    ? await importFrom(readToolsOf({ ...options, bearer: bearerOf(bearer) }), options, shipped, undefined, tell)
    : await importFrom(readDocumentOf({ ...options, baseUrl }), options, shipped, undefined, tell);
  process.stdout.write(printed(report, catalogue));
});

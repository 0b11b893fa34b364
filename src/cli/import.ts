/** `npm run import`: the operations of an OpenAPI document as endpoints of the catalogue. */
import './broken-pipe.ts';
import { shipped } from '../gateway/shipped.ts';
import { toDecimal } from '../money.ts';
import { dollars, run } from './command.ts';
import { readOperands, UsageProblem } from './command-line.ts';
import { importDocument } from './import/importer.ts';
import { printed } from './import/print.ts';

const USAGE = `npm run import -- <openapi.yaml, .json or https URL> --price 0.01

  writes an upstream and an endpoint for each operation of an OpenAPI document (3.0, 3.1, Swagger 2.0); never overwrites

  --price 0.01         what a call costs, in dollars
  --operation id       only this operation; may be given again. Also takes "GET /path"
  --group name         the endpoints' group, first in their paths (default: the upstream's name)
  --upstream name      its name in upstreams.yaml (default: from the provider's host)
  --base-url https://  in place of the document's first server
  --catalogue dir      default: TURNPIKE_CATALOGUE, or catalogue`;

const OPTIONS = {
  price: { type: 'string' },
  operation: { type: 'string', multiple: true },
  group: { type: 'string' },
  upstream: { type: 'string' },
  'base-url': { type: 'string' },
  catalogue: { type: 'string' },
} as const;

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
  const { group, upstream, operation: operations = [], 'base-url': baseUrl } = values;
  const options = { source, catalogue, price: toDecimal(price), operations, group, upstream, baseUrl };
  const report = await importDocument(options, shipped, undefined, (line) => void process.stderr.write(`${line}\n`));
  process.stdout.write(printed(report, catalogue));
});

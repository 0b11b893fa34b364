import { misreadIn } from '../../as-written.ts';
import { baseRail } from '../../catalogue/rails.ts';
import type { Money } from '../../money.ts';
import { rails } from '../../rails/index.ts';
import { dollars } from '../command.ts';
import { readOperands, UsageProblem } from '../command-line.ts';

export interface PayArguments {
  readonly path: string;
  /** JSON text, or undefined for none. */
  readonly body: string | undefined;
  /** Origin of the gateway, without a trailing slash. */
  readonly url: string;
  /** Neutral network id, CAIP-2 id, or undefined for the first that is offered. */
  readonly network: string | undefined;
  /** How it is paid within its protocol; undefined: the usual way. */
  readonly scheme: string | undefined;
  /** The name of a rail. */
  readonly protocol: string;
  /** More than this is paid only when a person agrees. */
  readonly max: Money;
  readonly yes: boolean;
}

const names = rails.map(({ name }) => name);

const defaults = [
  ...rails.flatMap(({ name, operation }) =>
    operation ? [`${name} for paths that start with ${operation.pathPrefix}/`] : [],
  ),
  `else ${baseRail(rails).name}`,
];

const USAGE = `npm run pay -- <path> ['<json body>'] [options]

  npm run pay -- /image/family-e-2 '{"prompt":"a lighthouse in fog","resolution":"2k"}'
  npm run pay -- '/stock/arb?sort=premium' --network chain-a

  --network <id>    where to pay: chain-a, chain-c, ... (default: the first that is offered)
  --protocol <name> ${names.join(' or ')} (default: ${defaults.join(', ')})
  --scheme <name>   exact; hold: lock the money before the work; channel: draw the call from a
                    deposit, which is made first where there is none (default: exact)
  --url <origin>    the gateway (default: http://127.0.0.1:4020)
  --max <dollars>   pay up to this without asking (default: 1.00)
  --yes             pay whatever it costs without asking`;

/** Throws UsageProblem. */
export function readArguments(words: readonly string[], environment: NodeJS.ProcessEnv): PayArguments {
  const { values, positionals } = parse(words);
  const [path, body, ...rest] = positionals;
  if (path === undefined || rest.length > 0) throw new UsageProblem(USAGE);
  if (!path.startsWith('/'))
    throw new UsageProblem(`the path starts with /, for example /image/family-e-2: got ${path}`);
  if (body !== undefined) checkJson(body);
  const protocol = values.protocol ?? railOf(path);
  if (!names.includes(protocol)) throw new UsageProblem(`--protocol is ${names.join(' or ')}: got ${protocol}`);
  const origin = values.url ?? `http://127.0.0.1:${environment.PORT ?? '4020'}`;
  if (!URL.canParse(origin)) throw new UsageProblem(`--url is an origin such as http://127.0.0.1:4020: got ${origin}`);
  const { name: base } = baseRail(rails);
  if (values.scheme !== undefined && protocol !== base)
    throw new UsageProblem(`--scheme goes with --protocol ${base}: got ${protocol}`);
  return {
    path,
    body,
    url: origin.replace(/\/+$/, ''),
    network: values.network,
    protocol,
    scheme: values.scheme,
    max: dollars('--max', values.max ?? '1.00'),
    yes: values.yes ?? false,
  };
}

/** The rail that paths like this one are sold on. */
function railOf(path: string): string {
  const rail = rails.find(({ operation }) => operation && path.startsWith(`${operation.pathPrefix}/`));
  return (rail ?? baseRail(rails)).name;
}

const parse = (words: readonly string[]) =>
  readOperands(
    USAGE,
    {
      network: { type: 'string' },
      protocol: { type: 'string' },
      scheme: { type: 'string' },
      url: { type: 'string' },
      max: { type: 'string' },
      yes: { type: 'boolean' },
    },
    words,
  );

function checkJson(body: string): void {
  let read: unknown;
  try {
    read = JSON.parse(body);
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unreadable';
    throw new UsageProblem(`the body is not JSON (${reason}): put it in single quotes, as '{"prompt":"a lighthouse"}'`);
  }
  // A path that takes GET is asked with what was read.
  const misread = misreadIn(read, () => body);
  if (misread) throw new UsageProblem(`the body's ${misread.path} ${misread.message}`);
}

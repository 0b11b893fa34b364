import { readCommandLine, UsageProblem } from '../command-line.ts';

const USAGE = `npm run client -- [options]

  writes the types of what a gateway sells, for createClient of turnpike/client

  --url <origin>      the gateway whose documents are read
  --catalogue <dir>   reads a catalogue's files in place of a gateway's documents (default, without --url:
                      TURNPIKE_CATALOGUE, or catalogue); --url then says where it is sold
                      (default: http://127.0.0.1:4020)
  --out <file>        where it is written (default: standard output)
  --only <paths>      what these begin with alone, such as image,/llm/multi-model`;

export interface ClientArguments {
  /** Undefined: the documents of the gateway. */
  readonly catalogue: string | undefined;
  readonly url: string;
  readonly out: string | undefined;
  /** What paths begin with; empty: all of them. */
  readonly only: readonly string[];
}

/** Throws UsageProblem. */
export function readArguments(words: readonly string[], environment: NodeJS.ProcessEnv): ClientArguments {
  const text = { type: 'string' } as const;
  const { values } = readCommandLine(USAGE, { url: text, catalogue: text, out: text, only: text }, words);
  const url = values.url ?? `http://127.0.0.1:${environment.PORT ?? '4020'}`;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new UsageProblem(`--url is an origin such as https://shop.example: got ${url}`);
  const usual = values.url === undefined ? (environment.TURNPIKE_CATALOGUE ?? 'catalogue') : undefined;
  const only = (values.only ?? '').split(',').filter((each) => each.trim() !== '');
  return {
    catalogue: values.catalogue ?? usual,
    url: new URL(url).origin,
    out: values.out,
    only: only.map((each) => `/${each.trim().replace(/^\//, '')}`),
  };
}

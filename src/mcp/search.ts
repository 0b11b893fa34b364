/** Three tools that find, describe and call all others: seventy at once flood a model. */
import type { Tool } from '@modelcontextprotocol/server';
import type { Input } from '../catalogue/types.ts';
import { AMOUNT, requestSchema } from '../discovery/schemas.ts';
import { Problem } from '../errors.ts';
import { toDecimal, usd } from '../money.ts';
import type { ToolCall } from '../request/request.ts';
import type { Visit } from '../request/visit.ts';
import { answered, byName, callByName, FREE, type OwnTool } from './own-tool.ts';
import { descriptionOf, type SoldTool } from './sold-tools.ts';

interface SearchParts {
  readonly tools: readonly SoldTool[];
  /** What was sold as well. Throws Problem. */
  find(name: string): SoldTool;
  call(tool: SoldTool, input: unknown, meta: ToolCall['meta'], visit: Visit): ReturnType<OwnTool['call']>;
}

const MOST_FOUND = 50;

/** One of those that there are: for another nothing is found, which reads as if nothing of the kind were sold. */
const oneOf = (values: readonly string[]) => ({
  type: 'string',
  ...(values.length > 0 && { enum: [...new Set(values)].sort() }),
});

const searchInput = (tools: readonly SoldTool[]): Tool['inputSchema'] => ({
  type: 'object',
  additionalProperties: false,
  properties: {
    query: { type: 'string', maxLength: 200, description: 'Words for what is needed: transcribe speech' },
    group: {
      ...oneOf(tools.map(({ routes: [route] }) => route.endpoint.group)),
      description: 'Only of this group',
    },
    network: {
      ...oneOf(tools.flatMap(({ networks }) => networks)),
      description: 'Only what can be paid on this network',
    },
    maxPrice: { type: 'string', pattern: AMOUNT, description: 'Dollars: only what can cost no more than this: 0.05' },
    limit: { type: 'integer', minimum: 1, maximum: MOST_FOUND, default: 10 },
  },
});

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

interface Words {
  readonly near: ReadonlySet<string>;
  readonly far: ReadonlySet<string>;
}

const known = new WeakMap<SoldTool, Words>();

/** Read once: there may be thousands of tools. */
function wordsAbout(tool: SoldTool): Words {
  const before = known.get(tool);
  if (before) return before;
  const { name, title = '', description = '', inputSchema } = tool.definition;
  const words = {
    near: new Set(wordsOf(`${name} ${title}`)),
    far: new Set(wordsOf(`${description} ${Object.keys(inputSchema.properties ?? {}).join(' ')}`)),
  };
  known.set(tool, words);
  return words;
}

/** How well a tool fits: words in its name or title count more than those in its description or its fields. */
function scored(tool: SoldTool, words: readonly string[]): number {
  const { near, far } = wordsAbout(tool);
  const has = (among: ReadonlySet<string>, word: string) =>
    among.has(word) || among.has(`${word}s`) || among.has(word.replace(/s$/, ''));
  return words.reduce((score, word) => score + (has(near, word) ? 3 : 0) + (has(far, word) ? 1 : 0), 0);
}

const summaryOf = ({ name, routes: [route], networks, definition }: SoldTool) => ({
  name,
  title: route.endpoint.summary,
  group: route.endpoint.group,
  price: definition._meta?.['turnpike/price'],
  networks,
});

function found({ tools }: SearchParts, { query, group, network, maxPrice, limit }: Input): Record<string, unknown> {
  const words = wordsOf(String(query ?? ''));
  const most = maxPrice === undefined ? undefined : usd(String(maxPrice));
  const ranked = tools
    .filter(({ routes: [route], networks }) => {
      if (group !== undefined && route.endpoint.group !== group) return false;
      if (most !== undefined && route.price.min > most) return false;
      // Mirrors sell the same elsewhere.
      return network === undefined ? route.kind !== 'mirror' : networks.some((id) => id === network);
    })
    .map((tool) => ({ tool, score: scored(tool, words) }))
    .filter(({ score }) => words.length === 0 || score > 0)
    .sort((left, right) => right.score - left.score);
  return { total: ranked.length, endpoints: ranked.slice(0, Number(limit)).map(({ tool }) => summaryOf(tool)) };
}

function described({ tools }: SearchParts, name: string): Record<string, unknown> {
  const tool = tools.find((each) => each.name === name);
  if (!tool) throw unknownTool(name, tools);
  const [route] = tool.routes;
  const { outputSchema } = tool.definition;
  return {
    ...summaryOf(tool),
    description: descriptionOf(tool),
    rails: tool.routes.map(({ rail }) => rail),
    listedPrice: toDecimal(route.listing.price),
    deadlineSeconds: route.deadlineMs / 1000,
    inputSchema: { ...requestSchema(route), type: 'object' },
    example: route.example,
    ...(outputSchema && { outputSchema: outputSchema.anyOf }),
    resultExample: route.resultExample,
  };
}

export const searchTools = (parts: SearchParts): OwnTool[] => [
  {
    definition: {
      name: 'search_endpoints',
      title: 'Find what is sold',
      description: 'Finds endpoints by what is needed, best first, with prices. Costs nothing.',
      inputSchema: searchInput(parts.tools),
      annotations: FREE,
    },
    call: (input) => answered(found(parts, input)),
  },
  {
    definition: {
      name: 'describe_endpoint',
      title: 'What an endpoint takes, gives and costs',
      description: 'The schemas, the price, the limits and an example of one endpoint. Costs nothing.',
      inputSchema: byName,
      annotations: FREE,
    },
    call: ({ name }) => answered(described(parts, String(name))),
  },
  {
    definition: {
      name: 'call_endpoint',
      title: 'Call an endpoint',
      description:
        'Calls an endpoint by its name: the same as calling the tool of that name. Paid per call; without a payment it answers the price.',
      inputSchema: callByName,
      annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
    },
    asksForSold: true,
    call: ({ name, arguments: given }, meta, visit) => parts.call(parts.find(String(name)), given, meta, visit),
  },
];

/** Names as clients show them to models: `@openai/agents` takes no dash, and others put a server's name before them. */
const inClientsWords = (name: string): string => name.replace(/[^A-Za-z0-9]/g, '_');

export function unknownTool(name: string, tools: readonly SoldTool[]): Problem {
  const asked = inClientsWords(name);
  const meant = tools.find((tool) => asked.endsWith(inClientsWords(tool.name)));
  const what = meant ? `did you mean ${meant.name}? search_endpoints` : 'search_endpoints';
  return new Problem('unknown_path', `No tool is called ${name.slice(0, 100)}: ${what} finds what is sold`);
}

/** A server that speaks the Model Context Protocol, and says in its list of tools what it does. */
import type { Tool } from '@modelcontextprotocol/client';
import type { CheckedCatalogue } from '../../catalogue/checked.ts';
import { typesOf } from '../../catalogue/endpoints/request-reads.ts';
import { isLoopback } from '../../catalogue/settings/loopback.ts';
import type { EndpointFile } from '../../catalogue/types.ts';
import { asJsonObject, type JsonObject } from '../../json.ts';
import { redact } from '../../upstream/http/redact.ts';
import { UsageProblem } from '../command-line.ts';
import { reasonOf } from '../reason.ts';
import { type EndpointPlan, pathOf, type Sale, textsOf } from './endpoint.ts';
import { requestExample } from './examples.ts';
import type { ImportOptions, Named, Offer, ReadProvider } from './importer.ts';
import { ANY_TYPE, isFlat } from './keywords.ts';
import { valueResult } from './result.ts';
import { convertSchema } from './schema.ts';
import { kebab, untaken, words } from './text.ts';
import { Unsupported } from './unsupported.ts';
import { upstreamNameOf } from './upstream.ts';

export interface ToolsOptions extends ImportOptions {
  /** The key that the server takes as a bearer token, with its environment variable; undefined: it needs none. */
  readonly bearer?: Bearer | undefined;
}

interface Bearer {
  readonly variable: string;
  readonly key: string;
}

interface OfferedTool extends Named {
  readonly tool: Tool;
}

/** Asks the server at `source` for its tools. */
export const readToolsOf =
  ({ source, bearer }: ToolsOptions): ReadProvider<OfferedTool> =>
  async (checked) => {
    const address = source.replace(/\/+$/, '');
    const { tools, title } = await toolsOf(address, bearer);
    const taken = new Set<string>();
    return {
      name: upstreamNameOf(address, title),
      operations: tools.map((tool) => ({
        id: tool.name,
        name: untaken(kebab(tool.name) || 'tool', taken, '-'),
        title: `the tool ${tool.name}`,
        tool,
      })),
      offer: (): Offer<OfferedTool> => ({
        upstream: {
          adapter: 'mcp',
          baseUrl: address,
          ...(bearer && { keys: { key: bearer.variable }, settings: { authorize: { bearer: 'key' } } }),
        },
        plan: ({ name, tool }, sale) => planOf(tool, name, sale, checked),
        tellsFailures: true,
        remarks: [],
      }),
    };
  };

/** Throws UsageProblem where the server does not list its tools. */
async function toolsOf(address: string, bearer: Bearer | undefined): Promise<{ tools: Tool[]; title: unknown }> {
  if (!URL.canParse(address) || !(address.startsWith('https:') || isLoopback(address))) {
    throw new UsageProblem(`${address} is not asked for its tools: give the https address of an MCP server`);
  }
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const client = new Client({ name: 'turnpike', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  const headers = new Headers(bearer && { authorization: `Bearer ${bearer.key}` });
  // As calls are made later: nobody is followed elsewhere with the key.
  const requestInit = { headers, redirect: 'manual' } as const;
  const transport = new StreamableHTTPClientTransport(new URL(address), { requestInit });
  try {
    await client.connect(transport);
    const { tools } = await client.listTools();
    await transport.terminateSession().catch(() => undefined);
    return { tools, title: client.getServerVersion()?.name };
  } catch (error) {
    const reason = redact(reasonOf(error), bearer ? [bearer.key] : []);
    const hint = bearer ? '' : '; --bearer names the environment variable of its key, where it needs one';
    throw new UsageProblem(`${address} cannot be asked for its tools: ${reason}${hint}`);
  } finally {
    await client.close();
  }
}

/** Throws Unsupported. */
function planOf(tool: Tool, name: string, sale: Sale, checked: CheckedCatalogue): EndpointPlan {
  const { inputSchema, outputSchema, annotations, execution } = tool;
  // Revision 2025-11-25, "Tasks".
  if (execution?.taskSupport === 'required')
    throw new Unsupported('answers with a task alone, and no call waits for one');
  const taken = convertSchema(inputSchema, 'request', 'arguments', { root: asJsonObject(inputSchema), checked });
  const request = requestOf(taken.schema);
  const context = { root: asJsonObject(outputSchema), checked };
  const result = outputSchema === undefined ? TEXT_RESULT : valueResult(outputSchema, context);
  const file = {
    ...textsOf(tool.title ?? annotations?.title, tool.description, words(name)),
    path: pathOf({ name }, sale),
    price: { rule: 'fixed', amount: sale.price },
    request,
    result: result.schema,
    example: requestExample(request, {}),
    upstream: { via: sale.upstream, tool: tool.name, arguments: 'input' },
  };
  const dangers = annotations?.destructiveHint === true ? ['it says that it destroys things, in your name'] : [];
  return { file: file as EndpointFile, notes: [...dangers, ...taken.notes, ...result.notes] };
}

/** What tools answer that do not say what they do; some have members of which they say nothing. */
const TEXT_RESULT = {
  schema: { type: 'object', properties: { text: { type: 'string' } }, examples: [{ text: 'a text' }] },
  notes: [],
};

function requestOf(schema: JsonObject): JsonObject {
  const properties = Object.entries(asJsonObject(schema.properties));
  if (properties.length > 0 && !isFlat(schema)) throw new Unsupported('takes arguments without names of their own');
  // A field that takes anything has to say so.
  const typed = properties.map(([name, given]) => {
    const property = asJsonObject(given);
    return [name, typesOf(property) === undefined ? { ...property, type: ANY_TYPE } : property];
  });
  const { required } = schema;
  return { ...(Array.isArray(required) && { required }), properties: Object.fromEntries(typed) };
}

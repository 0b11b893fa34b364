/**
 * The Model Context Protocol over streamable HTTP, revision 2026-07-28 and those before, without sessions.
 * Source: modelcontextprotocol.io/specification, "Transports".
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, isJSONRPCRequest, isSpecType, validateOriginHeader } from '@modelcontextprotocol/server';
import { Problem, type ProblemCode, takesOnly } from '../errors.ts';
import { readRawBody } from '../http/body.ts';
import { send, splitUrl } from '../http/transport.ts';
import { visitOf } from '../http/visits.ts';
import { isJsonObject, type JsonObject } from '../json.ts';
import { demandAsWritten, isLarge } from '../lifecycle/input.ts';
import type { Gate, Limits } from '../limits/limits.ts';
import { MCP_PATH } from '../paths.ts';
import { isOwnName, isPrivateName, nameIn } from '../request/asked-name.ts';
import { readJsonObject } from '../request/json-text.ts';
import type { Visit } from '../request/visit.ts';
import { inKnownContent } from './known-content.ts';
import { withoutNulls } from './left-out.ts';
import { readSelection, type Selection } from './selection.ts';
import { createServer, type ServerParts } from './server.ts';
import { listAnswer, type PlainCall, plainAnswer, plainCall, plainList } from './short-road.ts';

export interface ProtocolParts extends ServerParts {
  readonly groups: readonly string[];
  readonly networks: readonly string[];
  /** Host names under which the door is reached, and those whose pages may speak to it. */
  readonly hosts: readonly string[];
  readonly origins: readonly string[];
  readonly limits: Pick<Limits, 'gate'>;
  readonly bodyLimitBytes: number;
}

export interface Protocol {
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  close(): Promise<void>;
}

/** JSON-RPC's own codes. */
const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const INTERNAL_ERROR = -32_603;
const REFUSED = -32_000;

const JSON_TYPE = { 'content-type': 'application/json', 'cache-control': 'no-store' };

function refuse(response: ServerResponse, status: number, code: number, message: string, data?: object): void {
  const error = { code, message, ...(data && { data }) };
  send(response, { status, headers: JSON_TYPE, body: JSON.stringify({ jsonrpc: '2.0', error, id: null }) });
}

const CODES: Readonly<Partial<Record<ProblemCode, number>>> = { invalid_json: PARSE_ERROR, rate_limited: REFUSED };

function refuseBody(response: ServerResponse, { status, code, message, details, headers }: Problem): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  refuse(response, status, CODES[code] ?? INVALID_REQUEST, message, { code, details });
}

/** Streams of news are not worth a connection each, and would hold up a shutdown: what is sold changes with a reload only. */
const MOST_SUBSCRIPTIONS = 0;

/** Some clients write their payment beside the parameters. */
function withMetaInParams(message: JsonObject): Record<string, unknown> {
  const { _meta: outer, ...others } = message;
  if (!isJsonObject(outer) || !isJsonObject(others.params)) return message;
  const inner = isJsonObject(others.params._meta) ? others.params._meta : {};
  return { ...others, params: { ...others.params, _meta: { ...outer, ...inner } } };
}

/** Whether the package hands it on to a tool, and does not refuse it itself. */
const callsTool = (message: unknown): boolean => isJSONRPCRequest(message) && isSpecType.CallToolRequest(message);

/** The package tells of every value that it does not expect, each in 250 bytes. What a tool is called with is not looked at by it. */
function demandShort(message: Record<string, unknown>): void {
  const { params, ...others } = message;
  const isCall = others.method === 'tools/call' && isJsonObject(params);
  if (!isLarge([others, isCall ? { ...params, arguments: undefined } : params])) return;
  throw new Problem('invalid_request', 'The message has more than 500 values beside the arguments of a tool');
}

/** Who may be a page that had a name point here (DNS rebinding): what to say to it. */
function strangerIn({ headers }: IncomingMessage, { hosts, origins, publicUrl }: ProtocolParts): string | undefined {
  const name = nameIn(headers.host ?? '');
  // Proxies write whatever name they have for the gateway.
  if (!isOwnName(name) && !isPrivateName(name) && !hosts.includes(name))
    return `Invalid Host: ${name}: this is ${publicUrl}`;
  if (origins.includes('*')) return undefined;
  const origin = validateOriginHeader(headers.origin, [...origins]);
  return origin.ok ? undefined : `${origin.message}: the operator lists pages in service.yaml, mcp.origins`;
}

/** Who takes anything takes both forms of an answer; the package looks for their names alone. */
function nameBothForms({ headers }: IncomingMessage): void {
  if (headers.accept?.includes('*/*') ?? true) headers.accept = 'application/json, text/event-stream';
}

/** Fetch's own `Request`, which the package makes, throws for others, such as TRACE. */
const METHODS = new Set(['POST', 'GET', 'DELETE', 'HEAD', 'PUT', 'PATCH', 'OPTIONS']);

/** What was asked for by the address, by whom, and of which revision. */
type Asked = { readonly selection: Selection; readonly visit: Visit; readonly revision: string | undefined };

export function openProtocol(parts: ProtocolParts): Protocol {
  const { toolbox, log } = parts;
  const handler = createMcpHandler(
    ({ authInfo }) => {
      const { selection, visit, revision } = (authInfo as unknown as { extra: Asked }).extra;
      return createServer(parts, selection, visit, revision);
    },
    {
      maxSubscriptions: MOST_SUBSCRIPTIONS,
      onerror: (error) => log.debug({ err: error }, 'a request of the Model Context Protocol was not taken'),
    },
  );
  const byPackage = toNodeHandler(handler);

  async function readMessage(request: IncomingMessage, gate: Pick<Gate, 'brings'>): Promise<Record<string, unknown>> {
    const body = await readRawBody(request, parts.bodyLimitBytes);
    gate.brings(body);
    const message = readJsonObject(body);
    demandShort(message);
    const written = () => body.toString('latin1');
    // Its caller would not know the answer for its own.
    demandAsWritten({ id: message.id }, written);
    // Who sells them is given arguments that are written anew, and so cannot tell what they were.
    if (isJsonObject(message.params)) demandAsWritten(message.params.arguments, written);
    return withMetaInParams(withoutNulls(message));
  }

  /** The package hands on what is known of a caller, and of nothing else. It takes the target for a path, whatever its form. */
  const handedOn = (request: IncomingMessage, asked: Asked) =>
    Object.assign(request, { url: MCP_PATH, auth: { token: '', clientId: '', scopes: [], extra: asked } });

  async function answer(request: IncomingMessage, response: ServerResponse, visit: Visit): Promise<void> {
    const revision = request.headers['mcp-protocol-version']?.toString();
    const asked = { selection: readSelection(splitUrl(request.url ?? '/').query, parts), visit, revision };
    if (!METHODS.has(request.method ?? '')) throw takesOnly('POST');
    nameBothForms(request);
    const gate = parts.limits.gate(visit.client);
    let message: Record<string, unknown> | undefined;
    let call: PlainCall | undefined;
    try {
      if (request.method === 'POST') message = await readMessage(request, gate);
      call = message && plainCall(message, request.headers);
    } finally {
      // Tools are counted when they are called.
      if (!call && !callsTool(message)) gate.asks();
    }
    if (!message) return await byPackage(handedOn(request, asked), response);
    const list = plainList(message, request.headers);
    if (list !== undefined) {
      send(response, { status: 200, headers: JSON_TYPE, body: listAnswer(list, toolbox.list(asked.selection)) });
      return;
    }
    if (!call) return await byPackage(handedOn(request, asked), response, message);
    const result = await toolbox.call(call.name, call.input, call.meta, visit);
    send(response, {
      status: 200,
      headers: JSON_TYPE,
      body: plainAnswer(call, inKnownContent(result, { ...asked.selection, revision })),
    });
  }

  return {
    close: handler.close,
    async handle(request, response) {
      const visit = visitOf(response);
      visit.door = 'mcp';
      response.setHeader('request-id', visit.requestId);
      const stranger = strangerIn(request, parts);
      if (stranger !== undefined) {
        refuse(response, 403, REFUSED, stranger);
        return;
      }
      visit.hold();
      try {
        await answer(request, response, visit);
      } catch (error) {
        if (error instanceof Problem) {
          refuseBody(response, error);
          return;
        }
        log.error(
          { requestId: visit.requestId, err: error },
          'a request of the Model Context Protocol failed in the gateway',
        );
        if (response.headersSent) response.destroy();
        else refuse(response, 500, INTERNAL_ERROR, 'The gateway failed');
      } finally {
        visit.release();
      }
    },
  };
}

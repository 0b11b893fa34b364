/**
 * `POST /mcp`: the Model Context Protocol over streamable HTTP, revision 2026-07-28 and those before, without sessions.
 * Source: modelcontextprotocol.io/specification, "Transports".
 */
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, validateHostHeader, validateOriginHeader } from '@modelcontextprotocol/server';
import type { Request, RequestHandler, Response } from 'express';
import { Problem } from '../errors.ts';
import { readRawBody } from '../http/body.ts';
import { splitUrl } from '../http/transport.ts';
import { isJsonObject } from '../json.ts';
import { readJsonObject } from '../json-text.ts';
import { ownTurn } from '../large-bodies.ts';
import { readSelection } from './selection.ts';
import { createServer, type ServerParts } from './server.ts';

interface DoorParts extends ServerParts {
  readonly groups: readonly string[];
  readonly networks: readonly string[];
  /** Host names under which the door is reached, and those whose pages may speak to it. */
  readonly hosts: readonly string[];
  readonly origins: readonly string[];
  readonly bodyLimitBytes: number;
}

export interface Door {
  readonly handler: RequestHandler;
  close(): Promise<void>;
}

/** JSON-RPC's own codes. */
const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const REFUSED = -32_000;

function refuse(response: Response, status: number, code: number, message: string, data?: object): void {
  const error = { code, message, ...(data && { data }) };
  response.status(status).json({ jsonrpc: '2.0', error, id: null });
}

/** Streams of news are not worth a connection each: what is sold changes with a reload only. */
const MOST_SUBSCRIPTIONS = 16;

/** Some clients write their payment beside the parameters. */
function withMetaInParams(message: Record<string, unknown>): Record<string, unknown> {
  const { _meta: outer, ...others } = message;
  if (!isJsonObject(outer) || !isJsonObject(others.params)) return message;
  const inner = isJsonObject(others.params._meta) ? others.params._meta : {};
  return { ...others, params: { ...others.params, _meta: { ...outer, ...inner } } };
}

/** Who may be a page that had a name point here (DNS rebinding): what to say to it. */
function strangerIn({ headers }: Request, { hosts, origins, publicUrl }: DoorParts): string | undefined {
  const host = validateHostHeader(headers.host, [...hosts]);
  if (!host.ok) return `${host.message}: this is ${publicUrl}`;
  if (origins.includes('*')) return undefined;
  const origin = validateOriginHeader(headers.origin, [...origins]);
  return origin.ok ? undefined : `${origin.message}: the operator lists pages in service.yaml, mcp.origins`;
}

export function createDoor(parts: DoorParts): Door {
  const handler = createMcpHandler(
    ({ requestInfo }) => createServer(parts, readSelection(new URL(requestInfo?.url ?? parts.publicUrl).search, parts)),
    {
      maxSubscriptions: MOST_SUBSCRIPTIONS,
      onerror: (error) => parts.log.debug({ err: error }, 'a request of the Model Context Protocol was not taken'),
    },
  );
  const answer = toNodeHandler(handler);

  async function readMessage(request: Request): Promise<Record<string, unknown>> {
    const body = await readRawBody(request, parts.bodyLimitBytes);
    await ownTurn(body);
    return withMetaInParams(readJsonObject(body));
  }

  return {
    close: handler.close,
    async handler(request, response) {
      const stranger = strangerIn(request, parts);
      if (stranger !== undefined) {
        refuse(response, 403, REFUSED, stranger);
        return;
      }
      try {
        readSelection(splitUrl(request.url).query, parts);
        const message = request.method === 'POST' ? await readMessage(request) : undefined;
        await answer(request, response, message);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        const { status, code, message, details } = error;
        for (const [name, value] of Object.entries(error.headers)) response.setHeader(name, value);
        refuse(response, status, code === 'invalid_json' ? PARSE_ERROR : INVALID_REQUEST, message, { code, details });
      }
    },
  };
}

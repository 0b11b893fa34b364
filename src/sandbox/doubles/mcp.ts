/**
 * A server of tools as revision 2026-07-28 of the Model Context Protocol has it: every request is answered by itself, and
 * tools answer what the endpoints' files say of them, as the double of `http` does. A tool that several endpoints call
 * answers what each of them reads.
 */
import { isJsonObject, type JsonObject } from '../../json.ts';
import { fileOf } from '../../upstream/providers/http/options.ts';
import { merged } from '../../upstream/providers/http/reversed.ts';
import type { McpOptions } from '../../upstream/providers/mcp/options.ts';
import { sampleFile } from '../files/sample.ts';
import { openDoor } from './door.ts';
import {
  type Double,
  type DoubleAnswer,
  type DoubleKind,
  type DoubleRequest,
  type DoubleUse,
  jsonAnswer,
  jsonBody,
} from './double.ts';
import { madeAnswer } from './http.ts';

const REVISION = '2026-07-28';
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;
/** As the official servers begin it. */
const REFUSAL = 'Input validation error: Invalid arguments for tool search_docs: the provider does not take this';

export const mcpDouble: DoubleKind = {
  adapter: 'mcp',
  followsUses: true,
  open(upstream, uses): Double {
    const toolUses = (request: DoubleRequest): readonly DoubleUse[] => {
      const { method, params } = jsonBody(request);
      const tool = method === 'tools/call' && isJsonObject(params) ? params.name : undefined;
      return uses.filter(({ options }) => options.tool === tool);
    };
    const door = openDoor(upstream);
    return {
      unauthorized: door.unauthorized,
      isBilled: (request) => toolUses(request).length > 0,
      async answer(request) {
        const token = door.tokenFor(request);
        if (token) return token;
        if (request.method !== 'POST') return jsonAnswer(405, { error: 'POST alone' });
        const asked = toolUses(request);
        if (asked.length > 0) return completed(request, await answerOf(asked, request.body.toString('utf8')));
        switch (jsonBody(request).method) {
          case 'server/discover':
            return completed(request, { supportedVersions: [REVISION], capabilities: { tools: {} }, ttlMs: 0 });
          case 'tools/call':
            return refused(request, INVALID_PARAMS, 'Tool not found');
          default:
            return refused(request, METHOD_NOT_FOUND, 'no such method');
        }
      },
      errorBody: () => ({ error: 'the provider is in trouble' }),
      // Since revision 2025-11-25 a tool that does not take its arguments answers so itself.
      refuse: (request) => completed(request, { isError: true, content: [{ type: 'text', text: REFUSAL }] }),
    };
  },
};

const completed = (request: DoubleRequest, result: JsonObject): DoubleAnswer =>
  jsonAnswer(200, { jsonrpc: '2.0', id: jsonBody(request).id, result: { resultType: 'complete', ...result } });

const refused = (request: DoubleRequest, code: number, message: string): DoubleAnswer =>
  jsonAnswer(200, { jsonrpc: '2.0', id: jsonBody(request).id, error: { code, message } });

async function answerOf(uses: readonly DoubleUse[], seed: string): Promise<JsonObject> {
  const content: object[] = [];
  let answer: unknown;
  for (const { options: given, result } of uses) {
    const options = given as unknown as McpOptions;
    const kind = fileOf(options);
    if (kind) {
      const { bytes, type: mimeType } = await sampleFile(kind, seed);
      content.push({ type: kind, data: bytes.toString('base64'), mimeType });
    } else answer = merged(answer, madeAnswer(options, result, seed));
  }
  if (answer === undefined) return { content };
  const text = isJsonObject(answer) && Object.keys(answer).join() === 'text' ? answer.text : undefined;
  if (typeof text === 'string') return { content: [...content, { type: 'text', text }] };
  return { content: [...content, { type: 'text', text: JSON.stringify(answer) }], structuredContent: answer };
}

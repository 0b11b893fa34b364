/** Tools of another server that speaks the Model Context Protocol, as an endpoint's own file describes them. */
import type { CallToolResult } from '@modelcontextprotocol/client';
import type { Adapter } from '../../adapter.ts';
import { mapTemplate } from '../../input-mapping.ts';
import type { MediaKind } from '../../media/type.ts';
import { UpstreamProblem } from '../../problem.ts';
import { mapAnswer } from '../http/answer.ts';
import { authorize, checkSettings, secretsIn, tokenRequest } from '../http/authorization.ts';
import { exampleFaults, exampleResult, expressionFaults } from '../http/check.ts';
import { fileAnswers, fileResult } from '../http/files.ts';
import { fileOf, resultExpression } from '../http/options.ts';
import { httpSettings } from '../http/settings.ts';
import { argumentsRefused, callTool } from './call-tool.ts';
import { type McpOptions, mcpOptions } from './options.ts';

export const mcp: Adapter<McpOptions> = {
  name: 'mcp',
  options: mcpOptions,
  upstreamOptions: httpSettings,
  secrets: [],
  secretsIn,
  checkSettings,
  authorize,
  tokenRequest,
  asksAtBaseUrl: true,
  check(options, { upstream }) {
    const faults = expressionFaults(options);
    return faults.length > 0 ? faults : exampleFaults(options, upstream);
  },
  reads: (options) => ({ fields: {}, passesOthers: options.arguments === 'input' }),
  answers: (options) => {
    const kind = fileOf(options);
    return kind && fileAnswers(kind);
  },
  exampleResult,
  async call(input, { options, upstream, http }, context) {
    const { tool, arguments: template } = options;
    const given = template === 'input' ? input : mapTemplate(template ?? {}, input);
    const order = { name: tool, arguments: { ...(given as object | undefined) } };
    const ask = async () => answered(await callTool(http, order, context.signal), tool, upstream);
    const kind = fileOf(options);
    if (!kind) return mapAnswer(resultExpression(options), answerOf(await ask()), upstream);
    const file = await context.once([order], async () => fileIn(await ask(), kind, upstream));
    return await fileResult(file, kind, upstream, context);
  },
};

/**
 * How the official servers begin to say that a tool does not take its arguments: since revision 2025-11-25 this is for the
 * tool to answer, and no error of the protocol (modelcontextprotocol.io, SEP-1303).
 */
const ARGUMENTS_REFUSED = /^(?:MCP error -32602: )?(?:input validation error|invalid arguments for tool)/i;

/**
 * How those in Python do: github modelcontextprotocol/python-sdk (mcpserver/tools/base.py, utilities/func_metadata.py) and
 * PrefectHQ/fastmcp (tools/function_tool.py). A tool's own faults, such as a result of the wrong form, have other names.
 */
const ARGUMENTS_REFUSED_IN_PYTHON =
  /^(?:Error (?:executing|calling) tool \S{1,200}: )?\d{1,4} validation errors? for (?:call\[|\w{1,200}Arguments(?:\n|$))/;

/** Throws UpstreamProblem for a tool that says that it failed: `invalid-input` where it does not take what it was given. */
function answered(answer: CallToolResult, tool: string, upstream: string): CallToolResult {
  if (answer.isError !== true) return answer;
  const providerMessage = textOf(answer);
  if (ARGUMENTS_REFUSED.test(providerMessage) || ARGUMENTS_REFUSED_IN_PYTHON.test(providerMessage))
    throw argumentsRefused(tool, upstream, providerMessage);
  throw new UpstreamProblem('failed', upstream, `${tool} failed`, { providerMessage });
}

const textOf = ({ content }: CallToolResult): string =>
  content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');

const answerOf = (answer: CallToolResult): unknown => answer.structuredContent ?? { text: textOf(answer) };

/** The bytes of the first block of a kind, in base64. Throws UpstreamProblem `malformed` where there is none. */
function fileIn({ content }: CallToolResult, kind: MediaKind, upstream: string): string {
  for (const block of content) {
    if ((block.type === 'image' || block.type === 'audio') && block.type === kind) return block.data;
  }
  throw new UpstreamProblem('malformed', upstream, `answered no ${kind}`);
}

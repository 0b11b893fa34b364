/** Every tool of the door: what is sold, and what helps to buy it. */
import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import { Problem } from '../errors.ts';
import { demandFits } from '../lifecycle/input.ts';
import type { Limits } from '../limits/limits.ts';
import type { Log } from '../log.ts';
import type { Purchases } from '../purchases/purchases.ts';
import type { ToolCall } from '../request/request.ts';
import { type Ended, toolVisit, type Visit } from '../request/visit.ts';
import { type CallParts, callSold } from './call.ts';
import { listedSchema } from './listed-schema.ts';
import type { Media } from './media-blocks.ts';
import type { OwnTool } from './own-tool.ts';
import { purchasesTool } from './purchases.ts';
import { quoteTool } from './quote.ts';
import { problemResult, statusOf, toolResult } from './result.ts';
import { searchTools, unknownTool } from './search.ts';
import type { Selection } from './selection.ts';
import type { SoldTool, SoldTools } from './sold-tools.ts';

export interface ToolboxParts extends CallParts {
  readonly sold: SoldTools;
  /** By name, what an earlier catalogue sold or what is sold no more: its payments are honoured. */
  findEarlier(name: string): SoldTool | undefined;
  readonly media: Media;
  readonly purchases: Purchases;
  readonly limits: Pick<Limits, 'gate'>;
  readonly log: Log;
  readonly ended: Ended;
}

export interface Toolbox {
  list(selection: Selection): Tool[];
  /** Never throws: what goes wrong is a result, too. */
  call(name: string, input: Record<string, unknown>, meta: ToolCall['meta'], request: Visit): Promise<CallToolResult>;
}

export function createToolbox(parts: ToolboxParts): Toolbox {
  const { sold } = parts;
  const find = (name: string): SoldTool => {
    const tool = sold.find(name) ?? parts.findEarlier(name);
    if (tool) return tool;
    throw unknownTool(name, sold.all);
  };
  const callTool = async (tool: SoldTool, input: unknown, meta: ToolCall['meta'], visit: Visit) => {
    visit.route = tool.name;
    const called = await callSold(parts, tool, input, meta, visit);
    visit.status = statusOf(called[0].outcome);
    return toolResult(parts, called);
  };

  const search = searchTools({ tools: sold.all, find, call: callTool });
  const free = [quoteTool(parts, find), purchasesTool(parts.purchases, parts.limits)];
  const own = new Map<string, OwnTool>([...search, ...free].map((tool) => [tool.definition.name, tool]));
  const listed = ({ definition }: OwnTool): Tool => ({
    ...definition,
    inputSchema: listedSchema(definition.inputSchema),
  });
  const listedSearch = search.map(listed);
  const listedFree = free.map(listed);

  async function call(
    name: string,
    input: Record<string, unknown>,
    meta: ToolCall['meta'],
    visit: Visit,
  ): Promise<CallToolResult> {
    const tool = own.get(name);
    const gate = parts.limits.gate(visit.client);
    const asks = () => {
      gate.brings(Buffer.from(JSON.stringify(input)));
      gate.asks();
    };
    const isCountedFirst = tool !== undefined && !tool.asksForSold;
    if (tool) {
      visit.route = name;
      visit.status = 200;
    }
    if (isCountedFirst) asks();
    try {
      if (!tool) return await callTool(find(name), input, meta, visit);
      const given = demandFits(tool.definition.inputSchema, () => structuredClone(input));
      return await tool.call(given, meta, visit);
    } catch (error) {
      // It did not get to what is sold, where it would have been counted.
      if (!isCountedFirst) asks();
      throw error;
    }
  }

  return {
    list: (selection) => [
      ...(selection.search ? listedSearch : []),
      ...(selection.free ? listedFree : []),
      ...sold.all.filter(selection.wants).map(({ definition }) => definition),
    ],
    async call(name, input, meta, request) {
      const visit = toolVisit(request, parts.ended);
      const { requestId } = visit;
      try {
        return await call(name, input, meta, visit);
      } catch (error) {
        visit.status = error instanceof Problem ? error.status : 500;
        if (!(error instanceof Problem))
          parts.log.error({ requestId, err: error, tool: visit.route }, 'tool call failed');
        return problemResult(error, requestId);
      } finally {
        request.isProbe ||= visit.isProbe;
        visit.isCut = request.isCut;
        visit.release();
      }
    },
  };
}

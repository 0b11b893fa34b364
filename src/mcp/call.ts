/** A tool call on its way through the lifecycle: on the rail of the payment that came along, or on all for a challenge. */
import { canonicalJson } from '../canonical-json.ts';
import type { Route } from '../catalogue/types.ts';
import { Problem, type ProblemCode } from '../errors.ts';
import type { IncomingRequest, Lifecycle } from '../lifecycle/lifecycle.ts';
import type { Outcome } from '../lifecycle/outcome.ts';
import type { Rail } from '../payment/rail.ts';
import { nextTurn } from '../request/large-bodies.ts';
import type { ToolCall } from '../request/request.ts';
import type { Visit } from '../request/visit.ts';
import type { SoldTool } from './sold-tools.ts';

export interface CallParts {
  readonly lifecycle: Pick<Lifecycle, 'answer'>;
  readonly rails: ReadonlyMap<string, Rail>;
}

/** What a call came to on one rail. */
export interface Called {
  readonly call: ToolCall;
  readonly outcome: Outcome;
}

/** A call of a tool as the request for a route. */
function requestFor(route: Route, body: Buffer, tool: ToolCall, visit: Visit, isQuote: boolean): IncomingRequest {
  return {
    transport: 'mcp',
    method: route.methods.includes('POST') ? 'POST' : 'GET',
    path: route.path,
    query: '',
    headers: {},
    tool,
    visit,
    isQuote,
    async readBody(limitBytes) {
      if (body.length > limitBytes) {
        throw new Problem('body_too_large', `The arguments are larger than ${limitBytes} bytes`);
      }
      await nextTurn(body);
      return body;
    },
  };
}

/** The rail that the call is paid on, undefined for none. Throws Problem. */
function paidRail({ rails }: CallParts, tool: SoldTool, call: ToolCall): string | undefined {
  const [paid, ...others] = [...rails.values()].filter(({ mcp }) => mcp.carries(call)).map(({ name }) => name);
  if (others.length > 0) throw new Problem('several_credentials');
  if (paid === undefined || tool.routes.some(({ rail }) => rail === paid)) return paid;
  const sold = tool.routes.map(({ rail }) => rail).join(' or ');
  throw new Problem('method_unsupported', `${tool.name} is not sold over ${paid}: pay it over ${sold}`);
}

/** How a call ends that no route has: nobody has counted it yet. */
const routeless: ReadonlySet<ProblemCode> = new Set(['unknown_path', 'body_too_large']);

/**
 * Outcomes: one, or the challenges of several rails. Throws Problem where it cannot be told which rail is meant, or where
 * no route takes it.
 */
export async function callSold(
  parts: CallParts,
  tool: SoldTool,
  input: unknown,
  meta: ToolCall['meta'],
  visit: Visit,
  isQuote = false,
): Promise<readonly [Called, ...Called[]]> {
  const body = Buffer.from(canonicalJson(input));
  const unpaid: ToolCall = { name: tool.name, meta: {} };
  const paid = paidRail(parts, tool, { ...unpaid, meta });
  const ask = async (route: Route, by: ToolCall): Promise<Called> => ({
    call: by,
    outcome: await parts.lifecycle.answer(requestFor(route, body, by, visit, isQuote)),
  });
  const route = tool.routes.find(({ rail }) => rail === paid) ?? tool.routes[0];
  const first = await ask(route, paid === undefined ? unpaid : { ...unpaid, meta });
  if (first.outcome.kind === 'problem' && routeless.has(first.outcome.problem.code)) throw first.outcome.problem;
  if (first.outcome.kind !== 'challenge') return [first];
  const others = tool.routes.filter((other) => other !== route).map((other) => ask(other, unpaid));
  return [first, ...(await Promise.all(others)).filter(({ outcome }) => outcome.kind === 'challenge')];
}

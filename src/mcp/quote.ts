import { canonicalJson } from '../canonical-json.ts';
import { toDecimal } from '../money.ts';
import { type CallParts, callSold } from './call.ts';
import { answered, callByName, FREE, type OwnTool } from './own-tool.ts';
import { problemResult } from './result.ts';
import type { SoldTool } from './sold-tools.ts';

/** The exact price of a call, what is wrong with it, and how it can be paid. `find` throws Problem. */
export const quoteTool = (parts: CallParts, find: (name: string) => SoldTool): OwnTool => ({
  definition: {
    name: 'quote',
    title: 'What a call costs',
    description:
      'The exact price of a call in dollars, everything that is wrong with its arguments, and how it can be paid. Costs nothing.',
    inputSchema: callByName,
    annotations: FREE,
  },
  asksForSold: true,
  async call({ name, arguments: given }, _meta, visit) {
    const tool = find(String(name));
    const called = await callSold(parts, tool, given, {}, visit, true);
    const [{ outcome }] = called;
    if (outcome.kind === 'problem') return problemResult(outcome.problem, outcome.requestId);
    const challenges = called.flatMap(({ outcome: each }) => (each.kind === 'challenge' ? [each] : []));
    const [first] = challenges;
    const faults = first?.challenge.invalidParams;
    return answered({
      name: tool.name,
      arguments: JSON.parse(canonicalJson(given)),
      price: first ? toDecimal(first.challenge.quote.amount) : '0',
      currency: 'USD',
      isValid: faults === undefined,
      ...(faults && { invalidParams: faults }),
      offers: challenges.map(({ rail, challenge }) => ({
        rail,
        price: toDecimal(challenge.quote.amount),
        ways: parts.rails.get(rail)?.mcp.offers(challenge) ?? [],
      })),
    });
  },
});

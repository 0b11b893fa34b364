/** JMESPath (jmespath.org): what a catalogue takes out of a provider's answer. */
import { compile, isRegistered, type JSONValue, TreeInterpreter } from '@jmespath-community/jmespath';
import { UpstreamProblem } from './problem.ts';

type Expression = ReturnType<typeof compile>;

const compiled = new Map<string, Expression>();

/** The parts of an expression. Throws for what is none. */
export function expressionOf(expression: string): Expression {
  const known = compiled.get(expression) ?? compile(expression);
  compiled.set(expression, known);
  return known;
}

/** Why an expression cannot be used, or undefined. */
export function expressionFault(expression: string): string | undefined {
  try {
    const unknown = functionsOf(expressionOf(expression)).find((name) => !isRegistered(name));
    return unknown && `there is no function ${unknown}`;
  } catch (error) {
    return (error instanceof Error ? error.message : String(error)).replace(/^Syntax error: /, '');
  }
}

/** Whether it takes a member of what it is asked of, and not the whole alone. It is right. */
export const namesMembers = (expression: string): boolean => holdsField(expressionOf(expression));

const holdsField = (node: unknown): boolean =>
  typeof node === 'object' &&
  node !== null &&
  (('type' in node && node.type === 'Field') || Object.values(node).some(holdsField));

function functionsOf(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return [];
  const own = 'type' in node && node.type === 'Function' && 'name' in node ? [String(node.name)] : [];
  return [...own, ...Object.values(node).flatMap(functionsOf)];
}

/** Whether it finds anything but false, null and what is empty. Throws as `evaluate` does. */
export function holds(expression: string, answer: unknown, upstream: string): boolean {
  const found = evaluate(expression, answer, upstream);
  if (typeof found === 'object' && found !== null) return Object.keys(found).length > 0;
  return found !== null && found !== false && found !== '';
}

/** What the expression finds; null for nothing. Throws UpstreamProblem `malformed` where the answer has other types. */
export function evaluate(expression: string, answer: unknown, upstream: string): unknown {
  try {
    return TreeInterpreter.search(expressionOf(expression), answer as JSONValue);
  } catch (error) {
    throw new UpstreamProblem('malformed', upstream, `the answer does not fit the expression ${expression}`, {
      cause: error,
    });
  }
}

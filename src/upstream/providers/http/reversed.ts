/** An answer that a provider would have to give for a result: what the sandbox makes where it has no example. */
import type { JSONValue } from '@jmespath-community/jmespath';
import { isJsonObject } from '../../../json.ts';
import { expressionOf } from '../../jmespath.ts';

type Node = ReturnType<typeof expressionOf>;

class Irreversible extends Error {}

/** Undefined for an expression that computes: no answer can be made from its result. */
export function reversed(expression: string, result: unknown): unknown {
  try {
    return placed(expressionOf(expression), result);
  } catch (error) {
    if (error instanceof Irreversible) return undefined;
    throw error;
  }
}

/** Whether an answer can be made for any result: paths, choices of members and lists, and nothing that computes. */
export const isReversible = (expression: string): boolean => reversed(expression, undefined) !== undefined;

/** The value in which the expression finds `value`. */
function placed(node: Node, value: unknown): unknown {
  switch (node.type) {
    case 'Identity':
    case 'Current':
    case 'Root':
      return value;
    case 'Field':
      return { [node.name]: value };
    case 'Subexpression':
    case 'Pipe':
      return placed(node.left, placed(node.right, value));
    case 'OrExpression':
      return placed(node.left, value);
    case 'Flatten':
      return placed(node.child, value);
    case 'Projection':
      return placed(node.left, Array.isArray(value) ? value.map((item) => placed(node.right, item)) : []);
    case 'IndexExpression':
      return placed(node.left, node.right.type === 'Index' && node.right.value === 0 ? [value] : irreversible(node));
    case 'MultiSelectHash': {
      const members = isJsonObject(value) ? value : {};
      return node.children.map((child) => placed(child.value, members[child.name])).reduce(merged, {});
    }
    case 'Literal':
      return {};
    default:
      return irreversible(node);
  }
}

function irreversible({ type }: Node): JSONValue {
  throw new Irreversible(type);
}

/** Two answers in one. */
export function merged(one: unknown, other: unknown): unknown {
  if (Array.isArray(one) && Array.isArray(other)) {
    const longer = one.length > other.length ? one : other;
    return longer.map((_item, index) => merged(one[index], other[index]));
  }
  if (!isJsonObject(one) || !isJsonObject(other)) return other ?? one;
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return Object.fromEntries(names.map((name) => [name, merged(one[name], other[name])]));
}

/**
 * Clients in Go, Java and C# write what they leave out as null, which the protocol has nowhere: the package takes it for a
 * value that does not fit, and answers `initialize` itself with an error.
 */
import { isJsonObject, type JsonObject } from '../json.ts';

const without = (object: JsonObject, keep: (value: unknown, name: string) => unknown): JsonObject =>
  Object.fromEntries(
    Object.entries(object).flatMap(([name, value]) => (value === null ? [] : [[name, keep(value, name)]])),
  );

function deeply(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(deeply);
  return isJsonObject(value) ? without(value, deeply) : value;
}

/** A message without what is null in its parameters. What a tool is called with, and a payment, are as they are. */
export function withoutNulls(message: JsonObject): JsonObject {
  const { params, ...others } = message;
  if (params === null) return others;
  if (!isJsonObject(params)) return message;
  const kept = without(params, (value, name) => {
    if (name === 'arguments' && message.method === 'tools/call') return value;
    return name === '_meta' && isJsonObject(value) ? without(value, (each) => each) : deeply(value);
  });
  return { ...others, params: kept };
}

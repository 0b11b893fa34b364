/** How long a call may take: the same for every request, or by the value of one of its fields. */
import { isJsonObject, type JsonObject } from '../../json.ts';
import type { CheckContext } from '../check-context.ts';
import { parseDuration } from '../duration.ts';
import type { Input, JsonSchema, Route } from '../types.ts';
import { choices } from '../yaml/suggest.ts';
import { below, keyOf, type SourceLocation } from '../yaml/yaml-document.ts';
import type { RoutePlan } from './route-plan.ts';

const DEFAULT_MS = 45_000;
const SHORTEST_MS = 1_000;
/** Longer, and clients, proxies and what was signed for the call have long given up. */
const LONGEST_MS = 30 * 60_000;

type Deadlines = Pick<Route, 'deadlineMs' | 'deadlineBy'>;

/** Milliseconds that a call for this request may take. */
export function deadlineOf({ deadlineMs, deadlineBy }: Deadlines, input: Input): number {
  return deadlineBy?.ms.get(String(input[deadlineBy.field])) ?? deadlineMs;
}

/** The milliseconds that every call may take at least. */
export const shortestOf = ({ deadlineMs, deadlineBy }: Deadlines): number =>
  Math.min(deadlineMs, ...(deadlineBy?.ms.values() ?? []));

/** What a file says, checked or not, for requests of this schema. A request that names no value has the default's time. */
export function readDeadlines(written: unknown, request: JsonSchema): Deadlines {
  if (!isJsonObject(written))
    return { deadlineMs: parseDuration(String(written)) ?? DEFAULT_MS, deadlineBy: undefined };
  const field = String(written.by);
  const byValue = Object.entries(isJsonObject(written.values) ? written.values : {});
  const ms = new Map(byValue.map(([value, duration]) => [value, parseDuration(String(duration)) ?? DEFAULT_MS]));
  const unsaid = ms.get(String(fieldOf(request, field)?.default));
  return { deadlineMs: unsaid ?? Math.max(DEFAULT_MS, ...ms.values()), deadlineBy: { field, ms } };
}

/** Reports deadlines out of bounds, and those by a field that do not fit its values. */
export function checkDeadline(plan: RoutePlan, request: JsonSchema, { checker }: CheckContext): void {
  const { kind, location, operation, deadline } = plan;
  const isInherited = kind === 'mirror' || (operation !== undefined && operation.value.deadline === undefined);
  const at = below(location, 'deadline');
  // What is inherited was checked where it stands, but for another request.
  if (!isInherited) checkBounds(deadline, at, checker.diagnostics);
  if (!isJsonObject(deadline) || (isInherited && plan.request.inherited)) return;
  const blame = isInherited ? keyOf(plan.request.location) : undefined;
  for (const { keys, wrong, expected } of faultsOf(deadline, request)) {
    checker.diagnostics.add(blame ?? below(at, ...keys), wrong, expected);
  }
}

function checkBounds(deadline: unknown, at: SourceLocation, diagnostics: CheckContext['checker']['diagnostics']): void {
  const byValue = isJsonObject(deadline) && isJsonObject(deadline.values) ? Object.entries(deadline.values) : [];
  for (const [value, duration] of byValue) checkBounds(duration, below(at, 'values', value), diagnostics);
  const ms = parseDuration(String(deadline));
  if (ms === undefined || (ms >= SHORTEST_MS && ms <= LONGEST_MS)) return;
  diagnostics.add(at, `a deadline of ${String(deadline)} is out of bounds`, 'write 1s to 30m');
}

interface Fault {
  readonly keys: readonly string[];
  readonly wrong: string;
  readonly expected: string;
}

function faultsOf({ by, values }: JsonObject, request: JsonSchema): Fault[] {
  const name = String(by);
  const field = fieldOf(request, name);
  if (!Array.isArray(field?.enum)) {
    const fields = Object.keys(isJsonObject(request.properties) ? request.properties : {});
    const selects = fields.filter((each) => Array.isArray(fieldOf(request, each)?.enum));
    const wrong = `deadline.by names ${name}, which is no field with an enum`;
    return [{ keys: ['by'], wrong, expected: choices(name, selects) }];
  }
  const taken = field.enum.map(String);
  const said = Object.keys(isJsonObject(values) ? values : {});
  const missing = taken.filter((value) => !said.includes(value));
  const expected = `write a duration for each value of ${name}`;
  return [
    ...(missing.length > 0 ? [{ keys: ['values'], wrong: `there is none for ${missing.join(', ')}`, expected }] : []),
    ...said
      .filter((value) => !taken.includes(value))
      .map((value) => ({
        keys: ['values', value],
        wrong: `${name} does not take ${value}`,
        expected: choices(value, taken),
      })),
  ];
}

function fieldOf({ properties }: JsonSchema, name: string): JsonObject | undefined {
  const field: unknown = isJsonObject(properties) ? properties[name] : undefined;
  return isJsonObject(field) ? field : undefined;
}

/** Tables that give every value of a choice field its price. */

import { PricingProblem } from '../catalogue/contracts.ts';
import type { Input, JsonSchema, Price } from '../catalogue/types.ts';
import type { Money } from '../money.ts';
import { choicesOf, demandPresent, namedField } from './field.ts';
import { highest, lowest, priceWith } from './price.ts';

/** A value for each string that a field allows. */
interface ChoiceTable<Value> {
  /** The request field that chooses. */
  readonly by: string;
  readonly values: ReadonlyMap<string, Value>;
  /** The value that stands when the request does not choose; undefined when it must. */
  readonly byDefault: Value | undefined;
}

/** A choice field as options name it; `path` says where they do. */
interface ChoiceOptions {
  readonly by: string;
  readonly path: readonly string[];
}

/** Options that give each value of the field an entry. */
interface EntryOptions<Entry> extends ChoiceOptions {
  readonly entries: { readonly [value: string]: Entry };
  readonly entriesPath: readonly string[];
  /** What an entry is, for messages: `price`. */
  readonly noun: string;
}

/**
 * What `read` makes of each value that the field allows. Throws PricingProblem when the request has no such field,
 * when it can be left out, or when it has no enum.
 */
export function choiceTable<Value>(
  request: JsonSchema,
  { by, path }: ChoiceOptions,
  read: (choice: string) => Value,
): ChoiceTable<Value> {
  const field = namedField(request, by, path);
  demandPresent(field, path);
  const values = new Map(choicesOf(field, path).map((choice) => [choice, read(choice)]));
  const byDefault = field.schema.default;
  return { by, values, byDefault: typeof byDefault === 'string' ? values.get(byDefault) : undefined };
}

/**
 * What `read` makes of each entry, where the entries are exactly the values that the field allows. Throws
 * PricingProblem at an entry that is missing or too many.
 */
export function entryTable<Entry, Value>(
  request: JsonSchema,
  options: EntryOptions<Entry>,
  read: (entry: Entry, choice: string) => Value,
): ChoiceTable<Value> {
  const { by, entries, entriesPath, noun } = options;
  const byChoice = new Map(Object.entries(entries));
  const option = `price.${entriesPath.join('.')}`;
  const table = choiceTable(request, options, (choice) => {
    const entry = byChoice.get(choice);
    if (entry !== undefined) return read(entry, choice);
    throw new PricingProblem(
      [...entriesPath, choice],
      `${option} has no ${noun} for ${choice}, which request.properties.${by} allows`,
      `a ${noun} for each value that ${by} allows`,
    );
  });
  const extra = [...byChoice.keys()].find((choice) => !table.values.has(choice));
  if (extra === undefined) return table;
  throw new PricingProblem(
    [...entriesPath, extra],
    `${option} has a ${noun} for ${extra}, which request.properties.${by} does not allow`,
    `only: ${[...table.values.keys()].join(', ')}`,
  );
}

/** The value for what the input chooses. */
export function chosen<Value>(table: ChoiceTable<Value>, input: Input): Value {
  const choice = input[table.by];
  const value = typeof choice === 'string' ? table.values.get(choice) : undefined;
  if (value === undefined) throw new TypeError(`cannot price ${table.by}: the input was not validated`);
  return value;
}

/** The price that is the amount of what the input chooses; listed at the default, else at the cheapest. */
export function priceByChoice(table: ChoiceTable<Money>): Price {
  const min = lowest(table.values.values());
  return priceWith({
    min,
    max: highest(table.values.values()),
    listed: table.byDefault ?? min,
    quote: (input) => chosen(table, input),
  });
}

/** What a route asks, before and after: for its example, for its example with each other choice, and at its bounds. */
import { isDeepStrictEqual } from 'node:util';
import { openSchemaCompiler } from '../catalogue/schemas/ajv.ts';
import type { Input, JsonSchema, Route } from '../catalogue/types.ts';
import { asJsonObject } from '../json.ts';
import { type Money, toDecimal } from '../money.ts';
import type { Change } from './change.ts';

type PriceChange = Omit<Change, 'where'>;

const ajv = openSchemaCompiler({ strict: false });
const validators = new Map<string, ReturnType<typeof ajv.compile>>();

/** The request with its defaults, or undefined where the schema refuses it. */
function filled(schema: JsonSchema, request: Input): Input | undefined {
  const { examples: _, ...rules } = schema;
  const key = JSON.stringify(rules);
  const validate = validators.get(key) ?? ajv.compile(rules);
  validators.set(key, validate);
  const copy = structuredClone(request);
  return validate(copy) ? copy : undefined;
}

/** Requests that both routes take, each by its name: the example, and the example with every other choice of each field. */
function samples(before: Route, after: Route): { name: string; was: Input; is: Input }[] {
  const both = (name: string, request: Input) => {
    const [was, is] = [filled(before.request, request), filled(after.request, request)];
    return was && is ? [{ name, was, is }] : [];
  };
  const [example] = [...both('example', before.example), ...both('example', after.example)];
  if (!example) return [];
  const others = Object.entries(asJsonObject(after.request.properties)).flatMap(([field, schema]) => {
    const { enum: choices } = asJsonObject(schema);
    const untried = (Array.isArray(choices) ? choices : []).filter((choice) => choice !== example.is[field]);
    return untried.flatMap((choice) => both(`${field}=${choice}`, { ...example.is, [field]: choice }));
  });
  return [example, ...others];
}

function change(what: string, before: Money, after: Money): PriceChange[] {
  if (before === after) return [];
  const percent = before === 0n ? undefined : Number(((Number(after - before) / Number(before)) * 100).toPrecision(3));
  return [{ about: 'price', what, effect: 'price', before: toDecimal(before), after: toDecimal(after), percent }];
}

/** What is listed is the price of a request without fields, unless the endpoint says otherwise. */
const listings = ({ price, listing }: Route) => (listing.price === price.listed ? undefined : listing.price);

export function comparePrices(before: Route, after: Route): PriceChange[] {
  const [was, is] = [before.price, after.price];
  const [example, ...others] = samples(before, after).map((sample) => ({
    ...sample,
    old: was.quote(sample.was),
    now: is.quote(sample.is),
  }));
  // A choice that costs what the example costs tells nothing more.
  const telling = others.filter(({ old, now }) => old !== example?.old || now !== example.now);
  const changes = [
    ...[...(example ? [example] : []), ...telling].flatMap(({ name, old, now }) => change(name, old, now)),
    ...change('lowest', was.min, is.min),
    ...change('highest', was.max, is.max),
    ...change('listed', was.listed, is.listed),
    ...(listings(before) === listings(after) ? [] : change('in listings', before.listing.price, after.listing.price)),
    ...(example ? compareTerms(was.terms?.(example.was), is.terms?.(example.is)) : []),
  ];
  if (changes.length > 0 || isDeepStrictEqual(before.priceOptions, after.priceOptions)) return changes;
  const [old, now] = [before, after].map(({ priceOptions }) => JSON.stringify(priceOptions));
  return [
    {
      about: 'price',
      what: 'rule, with no request found that it matters to',
      effect: 'price',
      before: old,
      after: now,
    },
  ];
}

/** Fewer output tokens for the money may be too few for who needs them. */
function compareTerms(
  was: ReturnType<NonNullable<Route['price']['terms']>> | undefined,
  is: typeof was,
): PriceChange[] {
  const [old, now] = [was?.maxOutputTokens, is?.maxOutputTokens];
  if (old === now) return [];
  const isLess = now !== undefined && (old === undefined || now < old);
  const [before, after] = [old?.toString(), now?.toString()];
  return [{ about: 'price', what: 'output tokens', effect: isLess ? 'may break' : 'harmless', before, after }];
}

/** An operation as the file of an endpoint. */
import type { EndpointFile } from '../../catalogue/types.ts';
import { asJsonObject, type JsonObject } from '../../json.ts';
import { requestExample } from './examples.ts';
import type { Operation } from './operations.ts';
import { planRequest } from './request.ts';
import { resultOf } from './result.ts';
import type { SchemaContext } from './schema.ts';
import type { Scheme } from './security.ts';
import { firstSentence, shortened, words } from './text.ts';

const LONGEST_SUMMARY = 200;
const LONGEST_DESCRIPTION = 800;

export interface EndpointPlan {
  readonly file: EndpointFile;
  /** What could not be carried over, in words. */
  readonly notes: readonly string[];
}

export interface Sale {
  readonly group: string;
  readonly upstream: string;
  /** Decimal dollars. */
  readonly price: string;
}

export const pathOf = ({ name }: Pick<Operation, 'name'>, { group }: Sale): string => `/${group}/${name}`;

/** Throws Unsupported. */
export function endpointFor(
  operation: Operation,
  sale: Sale,
  scheme: Scheme | undefined,
  context: SchemaContext,
): EndpointPlan {
  const { source } = operation;
  const plan = planRequest(operation, scheme, context);
  const result = resultOf(operation, context);
  const status = statusOf(source.responses);
  const types = { accept: result.accept, 'content-type': plan.contentType };
  const headers = { ...asJsonObject(plan.upstream.headers), ...constants(types) };
  const file = {
    ...textsOf(
      source.summary,
      source.description,
      operation.id === undefined ? operation.title : words(operation.name),
    ),
    path: pathOf(operation, sale),
    price: { rule: 'fixed', amount: sale.price },
    request: plan.request,
    result: result.schema,
    example: requestExample(plan.request, plan.documented),
    upstream: {
      via: sale.upstream,
      ...plan.upstream,
      ...(Object.keys(headers).length > 0 && { headers }),
      ...(result.file && { result: { file: result.file } }),
      ...(status.size > 0 && { status }),
    },
  };
  const callbacks = source.callbacks === undefined ? [] : ['callbacks are not carried over'];
  return { file: file as EndpointFile, notes: [...new Set([...callbacks, ...plan.notes, ...result.notes])] };
}

/** What is said of an endpoint. `name`: what it is called where nobody says what it does. */
export function textsOf(title: unknown, text: unknown, name: string): Pick<EndpointFile, 'summary' | 'description'> {
  const description = textOf(text, LONGEST_DESCRIPTION);
  const sentence = typeof text === 'string' ? firstSentence(text) : undefined;
  const summary = textOf(title, LONGEST_SUMMARY) ?? textOf(sentence, LONGEST_SUMMARY) ?? name;
  return { summary, ...(description !== undefined && description !== summary && { description }) };
}

const constants = (values: Readonly<Record<string, string | undefined>>): JsonObject =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, { value }]])),
  );

const textOf = (text: unknown, longest: number): string | undefined =>
  typeof text === 'string' && text.trim() !== '' ? shortened(text, longest) : undefined;

const MEANINGS = [
  [400, 'invalid-input'],
  [404, 'not-found'],
  [422, 'invalid-input'],
] as const;

/** What the documented statuses mean, by number. */
const statusOf = (responses: unknown): ReadonlyMap<number, string> =>
  new Map(MEANINGS.filter(([status]) => String(status) in asJsonObject(responses)));

/** The models that are sold to API keys, from the same catalogue entries as the paid endpoints. */
import type { Catalogue, Model, Route } from '../../catalogue/types.ts';
import { divideUp, rate, toDecimal } from '../../money.ts';
import { type PricedModel, priceModel } from '../../pricing/tokens.ts';
import type { Binding } from '../../upstream/adapter.ts';
import type { ChatModel } from '../../upstream/providers/openai/chat.ts';

/** Who answers for a model. */
export interface ChatSource {
  /** Of the upstream, for the log. */
  readonly name: string;
  readonly binding: Binding;
  readonly model: ChatModel;
}

export interface SoldModel {
  readonly name: string;
  readonly price: PricedModel;
  readonly deadlineMs: number;
  /** Input tokens that a picture counts for, where the endpoint's price says so. */
  readonly imageTokens?: number;
  /** In order: the next is asked when one fails. */
  readonly sources: readonly ChatSource[];
}

/**
 * By neutral name: the models of `usage-tokens` prices, whose markup is theirs here too. Where a model has an endpoint
 * of its own and is one of several at another, its own says the price. Left out: models whose upstream has no key.
 */
export function soldModels(
  { routes, upstreams }: Pick<Catalogue, 'routes' | 'upstreams'>,
  bindings: (route: Route) => readonly Binding[],
): Map<string, SoldModel> {
  const known = pricedModels(upstreams);
  const byUse = routes.filter(isByUse);
  const ofOneModel = ({ priceOptions }: Route) => priceOptions.model !== undefined;
  const sold = new Map<string, SoldModel>();
  for (const route of [...byUse.filter(ofOneModel), ...byUse.filter((route) => !ofOneModel(route))]) {
    for (const name of namesOf(route)) {
      if (sold.has(name)) continue;
      const price = priceModel(known, name, rate(String(route.priceOptions.markup)), []);
      const sources = bindings(route).flatMap((binding) => sourceOf(binding, name));
      if (sources.length === 0) continue;
      const { imageTokens } = route.priceOptions as { readonly imageTokens?: number };
      const counted = imageTokens !== undefined && { imageTokens };
      sold.set(name, { name, price, deadlineMs: route.deadlineMs, ...counted, sources });
    }
  }
  return sold;
}

const isByUse = ({ kind, priceOptions }: Route): boolean => kind === 'base' && priceOptions.rule === 'usage-tokens';

/** Names of the models that a key can be limited to, those included whose upstream has no key. */
export const namesOfModels = ({ routes }: Pick<Catalogue, 'routes'>): ReadonlySet<string> =>
  new Set(routes.filter(isByUse).flatMap(namesOf));

function namesOf({ priceOptions, request }: Route): string[] {
  const { model, by } = priceOptions;
  if (typeof model === 'string') return [model];
  const properties = request.properties as Readonly<Record<string, { enum?: readonly unknown[] }>> | undefined;
  return (properties?.[String(by)]?.enum ?? []).map(String);
}

function sourceOf(binding: Binding, name: string): ChatSource[] {
  const model = binding.adapter === 'openai-chat' ? binding.models[name] : undefined;
  return model ? [{ name: binding.upstream, binding, model }] : [];
}

/** The entry with the cost is the one that sets a model's price, whichever upstream has it. */
function pricedModels(upstreams: Catalogue['upstreams']): Map<string, Model> {
  const models = [...upstreams.values()].flatMap((upstream) => Object.entries(upstream.models ?? {}));
  return new Map(models.flatMap(([name, file]) => (file.cost ? [[name, { ...file, name }]] : [])));
}

/**
 * Output tokens that are billed to us whatever we bound. xAI's own words: "the limit is only applied to the main content and
 * not to the reasoning content or function calls" (github xai-org/xai-proto, chat.proto, `max_tokens`).
 */
export const beyondBoundOf = ({ sources }: SoldModel): number =>
  Math.max(...sources.map(({ model }) => model.beyondBound ?? 0));

/** Dollars / 10^24 to millionths of a dollar. */
const PRICE_SCALE = 10n ** 18n;

const pricesOf = ({ input, output }: Pick<PricedModel, 'input' | 'output'>) => ({
  input: toDecimal(divideUp(input, PRICE_SCALE)),
  output: toDecimal(divideUp(output, PRICE_SCALE)),
});

/** As `GET /v1/models` lists it: OpenAI's model object, with what it can do and what a million tokens cost. */
export function listedModel(model: SoldModel, created: number) {
  const { name, price } = model;
  const beyond = beyondBoundOf(model);
  return {
    id: name,
    object: 'model',
    created,
    owned_by: 'turnpike',
    context_window: Number.isFinite(price.contextWindow) ? price.contextWindow : null,
    max_output_tokens: price.maxOutput,
    default_output_tokens: price.defaultOutput,
    ...(beyond > 0 && { tokens_beyond_max: beyond }),
    pricing: {
      currency: 'USD',
      unit: '1M tokens',
      ...pricesOf(price),
      ...(price.long && { long_prompt: { above_tokens: price.long.above, ...pricesOf(price.long) } }),
    },
  };
}

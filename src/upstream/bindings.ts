/** Connects routes to upstreams once, at start. */

import { parseDuration } from '../catalogue/duration.ts';
import { deadlineOf } from '../catalogue/endpoints/deadline.ts';
import type { Catalogue, Input, Model, Route, Upstream, UpstreamOptions } from '../catalogue/types.ts';
import { isJsonObject } from '../json.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Adapter, Binding, CallContext, Recipe } from './adapter.ts';
import { callInOrder } from './fallback.ts';
import { openUpstreamHttp } from './http/client.ts';
import type { TurnsAt } from './http/turns.ts';
import { openPace, type Pace } from './pace.ts';
import { withCost } from './reported-cost.ts';

export interface Upstreams {
  /** True, or the environment variables without which no upstream of the route can be asked. */
  available(route: Route): true | { missing: string[] };
  /** Answers the route's result, without its envelope, and reports what all that was asked for it has cost so far. Throws UpstreamProblem. */
  call(route: Route, input: Input, context: Omit<CallContext, 'terms' | 'longest'>): Promise<unknown>;
  /** The upstreams of a route that have their keys, in order; recipes are left out. For callers that speak a provider's protocol. */
  bindings(route: Route): readonly Binding[];
  /** Where an upstream is reached, for the downloader: files that it hands out there are its own. */
  originOf(upstream: string): string | undefined;
  /** By upstream: true while it is not asked, for it failed too often. */
  circuits(): ReadonlyMap<string, boolean>;
  close(): Promise<void>;
}

interface UpstreamsOptions {
  catalogue: Pick<Catalogue, 'upstreams' | 'routes'>;
  adapters: readonly Adapter[];
  recipes: readonly Recipe[];
  /** The value of an environment variable that an upstream names. */
  secretOf(variable: string, upstream: Upstream): string | undefined;
  /** Takes the place of an upstream's own address. */
  baseUrlOf?(upstream: Upstream): string | undefined;
  /** Left out: turns of their own. */
  turnsAt?: TurnsAt;
  /** True where doubles answer: results with `metadata` then say so there. */
  sandbox?: boolean;
  metrics?: Pick<Metrics, 'exchange' | 'cost' | 'tokens'>;
  log?: Log;
}

interface OpenUpstream {
  upstream: Upstream;
  adapter: Adapter;
  http: ReturnType<typeof openUpstreamHttp>;
  /** Environment variables that are not set. */
  missing: string[];
  models: Readonly<Record<string, Model>>;
  settings: Readonly<Record<string, unknown>>;
  pace: Pace;
}

interface RouteSource {
  /** The upstream's or recipe's name, for the log. */
  readonly name: string;
  /** `leftMs`: until the deadline. */
  call(input: Input, context: CallContext, leftMs: number): Promise<unknown>;
  /** Undefined for a recipe. */
  binding: Binding | undefined;
  missing: string[];
}

export function openUpstreams(options: UpstreamsOptions): Upstreams {
  const { catalogue, metrics, log } = options;
  const adapters = new Map(options.adapters.map((adapter) => [adapter.name, adapter]));
  const recipes = new Map(options.recipes.map((recipe) => [recipe.name, recipe]));
  const opened = new Map([...catalogue.upstreams.values()].map((upstream) => [upstream.name, open(upstream)]));
  const sources = new Map(catalogue.routes.map((route) => [route, route.upstreams.map(sourceOf)]));

  function open(upstream: Upstream): OpenUpstream {
    const adapter = named(adapters, upstream.adapter, 'adapter');
    const keys = Object.entries(upstream.keys ?? {}).map(([secret, variable]) => {
      return { secret, variable, value: options.secretOf(variable, upstream) };
    });
    const timeoutMs = upstream.timeout === undefined ? undefined : parseDuration(upstream.timeout);
    const http = openUpstreamHttp({
      upstream,
      adapter,
      baseUrl: options.baseUrlOf?.(upstream) ?? upstream.baseUrl,
      secrets: Object.fromEntries(keys.flatMap(({ secret, value }) => (value ? [[secret, value]] : []))),
      turnsAt: options.turnsAt,
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(log && { log }),
      ...(metrics && { exchanged: metrics.exchange }),
    });
    return {
      upstream,
      adapter,
      http,
      missing: keys.filter(({ value }) => !value).map(({ variable }) => variable),
      models: Object.fromEntries(
        Object.entries(upstream.models ?? {}).map(([name, model]) => [name, { ...model, name }]),
      ),
      settings: upstream.settings ?? {},
      pace: openPace(),
    };
  }

  function sourceOf(use: UpstreamOptions): RouteSource {
    const { recipe: name, uses = {}, ...recipeOptions } = use;
    if (name === undefined) {
      const { adapter, missing, binding, pace } = bind(use);
      return {
        name: binding.upstream,
        call(input, context, leftMs) {
          const asked = withAskedModel(forCaller(binding, context), adapter, input);
          const paced = asked.model ? atPace(pace, asked.model, context, leftMs) : context;
          return adapter.call(input, asked, paced);
        },
        binding,
        missing,
      };
    }
    const recipe = named(recipes, name, 'recipe');
    const roles = Object.entries(uses).map(([role, roleUse]) => ({ role, ...bind(roleUse) }));
    const bindingsFor = (context: CallContext) =>
      Object.fromEntries(roles.map(({ role, binding }) => [role, forCaller(binding, context)]));
    return {
      name,
      call: (input, context) => recipe.call(input, bindingsFor(context), context, recipeOptions),
      binding: undefined,
      missing: roles.flatMap(({ missing }) => missing),
    };
  }

  function bind({ via, model, ...adapterOptions }: UpstreamOptions): OpenUpstream & { binding: Binding } {
    const found = named(opened, String(via), 'upstream');
    const { upstream, adapter, models, settings, http } = found;
    const binding: Binding = {
      upstream: upstream.name,
      adapter: adapter.name,
      options: adapterOptions,
      model: model === undefined ? undefined : modelNamed(models, model),
      models,
      settings,
      http,
    };
    return { ...found, binding };
  }

  /** A failed call may have cost something as well. */
  async function callCounted(
    source: RouteSource,
    route: Route,
    input: Input,
    context: CallContext,
    leftMs: number,
  ): Promise<unknown> {
    let cost: string | undefined;
    const reportCost = (dollars: string) => {
      cost = withCost(cost, dollars);
      context.reportCost?.(dollars);
    };
    try {
      return await source.call(input, { ...context, reportCost }, leftMs);
    } finally {
      if (cost !== undefined) metrics?.cost({ endpoint: route.id, upstream: source.name }, cost);
    }
  }

  const sourcesOf = (route: Route): RouteSource[] => {
    const found = sources.get(route);
    if (found === undefined) throw new Error(`the route ${route.id} is not of the catalogue that was opened`);
    return found;
  };

  const redact = (text: string): string => [...opened.values()].reduce((shown, { http }) => http.redact(shown), text);

  return {
    available(route) {
      const found = sourcesOf(route);
      if (found.some(({ missing }) => missing.length === 0)) return true;
      return { missing: [...new Set(found.flatMap(({ missing }) => missing))] };
    },
    async call(route, input, context) {
      const usable = sourcesOf(route).filter(({ missing }) => missing.length === 0);
      const { endpoint, signal, mayGoOn, emit, requestId } = context;
      let isPassedOn = false;
      const passOn = (text: string) => {
        isPassedOn = true;
        emit?.(text);
      };
      let cost: string | undefined;
      const reportCost = (dollars: string) => {
        cost = withCost(cost, dollars);
        context.reportCost?.(cost);
      };
      const sold = {
        ...context,
        reportCost,
        terms: route.price.terms?.(input),
        reportUse: metrics?.tokens,
        emit: emit && passOn,
        longest: route.streams ? (route.result.maxLength as number | undefined) : undefined,
      };
      const endsAt = performance.now() + deadlineOf(route, input);
      const left = () => endsAt - performance.now();
      const result = await callInOrder(usable, (source) => callCounted(source, route, input, sold, left()), {
        subject: endpoint,
        details: { endpoint, ...(requestId !== undefined && { requestId }) },
        signal,
        log,
        redact,
        mayAskAnother: () => !isPassedOn && (mayGoOn?.() ?? true),
      });
      return options.sandbox ? asSandboxResult(result) : result;
    },
    bindings: (route) =>
      sourcesOf(route).flatMap(({ binding, missing }) => (binding && missing.length === 0 ? [binding] : [])),
    originOf(upstream) {
      const found = opened.get(upstream);
      return found && new URL(found.http.baseUrl).origin;
    },
    circuits: () => new Map([...opened].map(([name, { http }]) => [name, http.isShut()])),
    async close() {
      await Promise.all([...opened.values()].map(({ http }) => http.close()));
    },
  };
}

/** With `metadata.sandbox`, where the result has metadata. */
function asSandboxResult(result: unknown): unknown {
  if (!isJsonObject(result) || !isJsonObject(result.metadata)) return result;
  return { ...result, metadata: { ...result.metadata, sandbox: true } };
}

/** The context of a call to a model that is asked for no more than it can write before the deadline, and measured. */
function atPace(pace: Pace, { id }: Model, context: CallContext, leftMs: number): CallContext {
  const startedAt = performance.now();
  const { terms, caller } = context;
  const most = pace.mostTokens(id, leftMs);
  return {
    ...context,
    terms: terms && { ...terms, maxOutputTokens: Math.min(terms.maxOutputTokens, most) },
    reportOutput: ({ promptTokens, completionTokens: tokens }) =>
      pace.observe(id, { caller, promptTokens, tokens, ms: performance.now() - startedAt }),
  };
}

const forCaller = (
  binding: Binding,
  { caller, requestId, trace, exchanged, signal, mayGoOn }: CallContext,
): Binding => ({
  ...binding,
  http: binding.http.forCaller(caller, {
    requestId,
    trace,
    exchanged,
    // What is asked after the work's end cleans up after it.
    mayGoOn: () => signal.aborted || (mayGoOn?.() ?? true),
  }),
});

/** The binding with the model that the request names, for adapters whose callers may. */
function withAskedModel(binding: Binding, { model }: Adapter, input: Input): Binding {
  if (model !== 'named-or-asked' || input.model === undefined) return binding;
  return { ...binding, model: modelNamed(binding.models, String(input.model)) };
}

const modelNamed = (models: Binding['models'], name: string): Model =>
  named(new Map(Object.entries(models)), name, 'model');

/** The loaded catalogue names nothing that does not exist: this would be a fault of the gateway. */
function named<Value>(values: ReadonlyMap<string, Value>, name: string, what: string): Value {
  const value = values.get(name);
  if (value === undefined) throw new Error(`no ${what} ${name}`);
  return value;
}

/** Connects routes to upstreams once, at start. */
import { parseDuration } from '../catalogue/duration.ts';
import type { Catalogue, Input, Model, Route, Upstream, UpstreamOptions } from '../catalogue/types.ts';
import type { Log } from '../log.ts';
import type { Adapter, Binding, CallContext, Recipe } from './adapter.ts';
import { callInOrder, type Source } from './fallback.ts';
import { openUpstreamHttp } from './http/client.ts';
import type { UpstreamHttp } from './http/upstream-http.ts';

export interface Upstreams {
  /** True, or the environment variables without which no upstream of the route can be asked. */
  available(route: Route): true | { missing: string[] };
  /** Answers the route's result, without its envelope. Throws UpstreamProblem. */
  call(route: Route, input: Input, context: Omit<CallContext, 'terms'>): Promise<unknown>;
  /** The upstreams of a route that have their keys, in order; recipes are left out. For doors that speak a provider's protocol. */
  bindings(route: Route): readonly Binding[];
  /** Origins of all upstreams, for the downloader: files that they hand out on their own address are theirs. */
  readonly origins: readonly string[];
  close(): Promise<void>;
}

export interface UpstreamsOptions {
  catalogue: Pick<Catalogue, 'upstreams' | 'routes'>;
  adapters: readonly Adapter[];
  recipes: readonly Recipe[];
  /** The value of an environment variable. */
  secretOf(variable: string): string | undefined;
  /** Takes the place of an upstream's own address. */
  baseUrlOf?(upstream: Upstream): string | undefined;
  /** True where doubles answer: results then say so, as `metadata.sandbox`. */
  sandbox?: boolean;
  log?: Log;
}

interface Line {
  upstream: Upstream;
  adapter: Adapter;
  http: UpstreamHttp & { close(): Promise<void> };
  missing: string[];
  models: Readonly<Record<string, Model>>;
  settings: Readonly<Record<string, unknown>>;
}

interface Way {
  source: Source;
  /** Undefined for a recipe. */
  binding: Binding | undefined;
  missing: string[];
}

export function openUpstreams(options: UpstreamsOptions): Upstreams {
  const { catalogue, log } = options;
  const adapters = new Map(options.adapters.map((adapter) => [adapter.name, adapter]));
  const recipes = new Map(options.recipes.map((recipe) => [recipe.name, recipe]));
  const lines = new Map([...catalogue.upstreams.values()].map((upstream) => [upstream.name, openLine(upstream)]));
  const ways = new Map(catalogue.routes.map((route) => [route, route.upstreams.map(wayOf)]));

  function openLine(upstream: Upstream): Line {
    const adapter = named(adapters, upstream.adapter, 'adapter');
    const keys = Object.entries(upstream.keys ?? {}).map(([secret, variable]) => {
      return { secret, variable, value: options.secretOf(variable) };
    });
    const timeoutMs = upstream.timeout === undefined ? undefined : parseDuration(upstream.timeout);
    const http = openUpstreamHttp({
      upstream,
      adapter,
      baseUrl: options.baseUrlOf?.(upstream) ?? upstream.baseUrl,
      secrets: Object.fromEntries(keys.flatMap(({ secret, value }) => (value ? [[secret, value]] : []))),
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(log && { log }),
    });
    return {
      upstream,
      adapter,
      http,
      missing: keys.filter(({ value }) => !value).map(({ variable }) => variable),
      models: Object.fromEntries(
        Object.entries(upstream.models ?? {}).map(([name, model]) => [name, { ...model, name }]),
      ),
      settings: { ...upstream.settings, ...(options.sandbox && { sandbox: true }) },
    };
  }

  function wayOf(use: UpstreamOptions): Way {
    const { recipe: name, uses = {}, ...recipeOptions } = use;
    if (name === undefined) {
      const { line, binding } = bind(use);
      const source = {
        name: line.upstream.name,
        call: (input: Input, context: CallContext) => line.adapter.call(input, binding, context),
      };
      return { source, binding, missing: line.missing };
    }
    const recipe = named(recipes, name, 'recipe');
    const roles = Object.entries(uses).map(([role, roleUse]) => ({ role, ...bind(roleUse) }));
    const bindings = Object.fromEntries(roles.map(({ role, binding }) => [role, binding]));
    return {
      source: { name, call: (input, context) => recipe.call(input, bindings, context, recipeOptions) },
      binding: undefined,
      missing: roles.flatMap(({ line }) => line.missing),
    };
  }

  function bind({ via, model, ...adapterOptions }: UpstreamOptions): { line: Line; binding: Binding } {
    const line = named(lines, String(via), 'upstream');
    const binding: Binding = {
      upstream: line.upstream.name,
      adapter: line.adapter.name,
      options: adapterOptions,
      model: model === undefined ? undefined : named(new Map(Object.entries(line.models)), model, 'model'),
      models: line.models,
      settings: line.settings,
      http: line.http,
    };
    return { line, binding };
  }

  const waysOf = (route: Route): Way[] => {
    const found = ways.get(route);
    if (found === undefined) throw new Error(`the route ${route.id} is not of the catalogue that was opened`);
    return found;
  };

  return {
    available(route) {
      const found = waysOf(route);
      if (found.some(({ missing }) => missing.length === 0)) return true;
      return { missing: [...new Set(found.flatMap(({ missing }) => missing))] };
    },
    async call(route, input, context) {
      const usable = waysOf(route).filter(({ missing }) => missing.length === 0);
      return await callInOrder(
        usable.map(({ source }) => source),
        input,
        { ...context, terms: route.price.terms?.(input) },
        log,
      );
    },
    bindings: (route) =>
      waysOf(route).flatMap(({ binding, missing }) => (binding && missing.length === 0 ? [binding] : [])),
    origins: [...new Set([...lines.values()].map(({ http }) => new URL(http.baseUrl).origin))],
    async close() {
      await Promise.all([...lines.values()].map(({ http }) => http.close()));
    },
  };
}

/** The loaded catalogue names nothing that does not exist: this would be a fault of the gateway. */
function named<Value>(values: ReadonlyMap<string, Value>, name: string, what: string): Value {
  const value = values.get(name);
  if (value === undefined) throw new Error(`no ${what} ${name}`);
  return value;
}

import { isJsonObject, type JsonObject } from '../../json.ts';
import type { AdapterDeclaration } from '../contracts.ts';
import { fieldsOf, isAlwaysThere, type RequestUse } from '../endpoints/request-reads.ts';
import type { Upstream } from '../types.ts';
import { choices } from '../yaml/suggest.ts';
import { below, type Diagnostics, keyOf, type SourceLocation } from '../yaml/yaml-document.ts';

interface UsedModel {
  readonly adapter: AdapterDeclaration;
  readonly entry: JsonObject;
  /** Where it stands in `upstreams.yaml`. */
  readonly at: readonly string[];
  /** The provider's fields that some call sends. */
  readonly sent: ReadonlySet<string>;
}

/** Checks the models that endpoints name. */
export class ModelUse {
  readonly #diagnostics: Diagnostics;
  readonly #upstreams: ReadonlyMap<string, Upstream> | undefined;
  /** By upstream and model. */
  readonly #used = new Map<string, UsedModel>();

  constructor(diagnostics: Diagnostics, upstreams: ReadonlyMap<string, Upstream> | undefined) {
    this.#diagnostics = diagnostics;
    this.#upstreams = upstreams;
  }

  /** The model's entry in `upstreams.yaml`; empty where there is none. */
  entryOf({ via, model }: JsonObject): JsonObject {
    const found: unknown = this.#upstreams?.get(String(via))?.models?.[String(model)];
    return isJsonObject(found) ? found : {};
  }

  /** A model is named where calls need one, is of the right kind, and is there: also each that a caller may name. */
  check(location: SourceLocation, options: JsonObject, adapter: AdapterDeclaration, request: RequestUse): void {
    this.#checkKind(location, options, adapter);
    const models = this.#upstreams?.get(String(options.via))?.models;
    const mayAsk = adapter.model === 'named-or-asked';
    if (options.model !== undefined && !mayAsk) return;
    const field = fieldsOf(request).model;
    const listed: unknown = isJsonObject(field) ? field.enum : undefined;
    const isAsked = mayAsk && Array.isArray(listed) && isAlwaysThere(request, 'model');
    if (options.model === undefined && !isAsked) this.demand(location, options, adapter);
    for (const model of models && Array.isArray(listed) ? listed : []) {
      if (models?.[String(model)] !== undefined) continue;
      this.#diagnostics.add(
        below(location, 'via'),
        `the upstream ${String(options.via)} has no model ${String(model)}, which request.properties.model allows`,
        choices(String(model), Object.keys(models ?? {})),
      );
    }
  }

  /** Reports that no model is named, where the adapter needs one. */
  demand(location: SourceLocation, { via }: JsonObject, adapter: AdapterDeclaration): void {
    if (adapter.model === undefined) return;
    const models = Object.keys(this.#upstreams?.get(String(via))?.models ?? {});
    const wrong = `${String(via)} speaks ${adapter.name}, which needs a model`;
    this.#diagnostics.add(keyOf(location), wrong, `add model; ${choices('', models)}`);
  }

  #checkKind(location: SourceLocation, options: JsonObject, adapter: AdapterDeclaration): void {
    const { kind } = this.entryOf(options);
    const wanted = adapter.kinds?.[String(options.result)];
    if (wanted === undefined || kind === undefined || kind === wanted) return;
    const wrong = `${String(options.model)} makes ${String(kind)}, and result says ${String(options.result)}`;
    this.#diagnostics.add(below(location, 'model'), wrong, `a model of kind ${wanted}, or another result`);
  }

  /** Remembers the provider's fields that an endpoint sends to its model. */
  addSent({ via, model }: JsonObject, adapter: AdapterDeclaration, fields: Iterable<string>): void {
    const at = [String(via), 'models', String(model)];
    const known = this.#used.get(at.join(' '))?.sent ?? [];
    const entry = this.entryOf({ via, model });
    this.#used.set(at.join(' '), { adapter, entry, at, sent: new Set([...known, ...fields]) });
  }

  /** Reports what models say of provider fields that no endpoint sends: it would change nothing. */
  checkFields(upstreamsAt: SourceLocation): void {
    for (const { adapter, entry, at, sent } of this.#used.values()) {
      const marked = isJsonObject(adapter.modelOptions?.properties) ? adapter.modelOptions.properties : {};
      for (const [option, schema] of Object.entries(marked)) {
        const fields = entry[option];
        if (!isJsonObject(schema) || schema['x-provider-fields'] !== true || !isJsonObject(fields)) continue;
        for (const field of Object.keys(fields)) {
          if (sent.has(field)) continue;
          const wrong = `no endpoint of ${at.at(-1)} sends ${field}`;
          this.#diagnostics.add(keyOf(below(upstreamsAt, ...at, option, field)), wrong, choices(field, sent));
        }
      }
    }
  }
}

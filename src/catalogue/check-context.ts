import type { JsonObject } from '../json.ts';
import type { CheckedCatalogue } from './checked.ts';
import type { Checker } from './checker.ts';
import type { PricingRule, RecipeDeclaration } from './contracts.ts';
import type { KnownNames } from './names.ts';
import type { RailDeclaration } from './rails.ts';
import type { SchemaCompiler } from './schemas/schemas.ts';
import type { Model, Network, ServiceFile } from './types.ts';
import type { UpstreamUse } from './upstreams/upstream-use.ts';
import type { Fragments } from './yaml/fragments.ts';

/** What an endpoint file is checked against. Undefined: that file cannot be read, so names in it are not checked. */
export interface CheckContext {
  readonly service: ServiceFile | undefined;
  readonly networks: ReadonlyMap<string, Network> | undefined;
  readonly rails: readonly RailDeclaration[];
  /** The schema of endpoint files. */
  readonly endpointFile: JsonObject;
  /** What names in endpoint files can refer to. */
  readonly names: KnownNames;
  readonly models: ReadonlyMap<string, Model> | undefined;
  readonly fragments: Fragments;
  /** The same names, with mistaken fragments replaced by schemas that take anything, so that they are reported once. */
  readonly soundFragments: Fragments;
  readonly rules: ReadonlyMap<string, PricingRule>;
  readonly recipes: ReadonlyMap<string, RecipeDeclaration>;
  readonly upstreamUse: UpstreamUse;
  readonly checker: Checker;
  readonly compiler: SchemaCompiler;
  /** What need not be compiled again. */
  readonly checked: CheckedCatalogue;
}

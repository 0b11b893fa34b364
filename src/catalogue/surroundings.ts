import type { CheckedSchemas } from './checked.ts';
import type { Checker } from './checker.ts';
import type { PricingRule } from './contracts.ts';
import type { Fragments } from './fragments.ts';
import type { SchemaCompiler } from './schemas.ts';
import type { Model, Network, ServiceFile } from './types.ts';
import type { UpstreamUse } from './upstream-use.ts';

/** What an endpoint file is checked against. Undefined: that file cannot be read, so nothing is said about names in it. */
export interface Surroundings {
  readonly service: ServiceFile | undefined;
  readonly networks: ReadonlyMap<string, Network> | undefined;
  readonly models: ReadonlyMap<string, Model> | undefined;
  readonly fragments: Fragments;
  /** The same names, with mistaken fragments replaced by schemas that take anything, so that they are told once. */
  readonly soundFragments: Fragments;
  readonly rules: ReadonlyMap<string, PricingRule>;
  readonly upstreamUse: UpstreamUse;
  readonly checker: Checker;
  readonly compiler: SchemaCompiler;
  /** What need not be compiled again. */
  readonly checked: CheckedSchemas;
}

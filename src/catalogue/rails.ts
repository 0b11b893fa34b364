import type { JsonSchema } from './types.ts';

/** What the catalogue must know of a rail, which is a way to be paid. */
export interface RailDeclaration {
  /** What routes and payments are kept under; also the rail's folder in `src/rails/`. */
  readonly name: string;
  /** As people write it. */
  readonly title: string;
  /**
   * Present on a rail that sells only those endpoints whose file has a block for it. The one rail without it sells every
   * endpoint at its own path, and its mirrors.
   */
  readonly operation?: OperationDeclaration;
  /** JSON Schema of the rail's block in `service.yaml`, marked like OperationDeclaration.options; left out: it has none. */
  readonly serviceOptions?: JsonSchema;
}

/** How an endpoint's file says that a rail sells it too, and where that is. */
export interface OperationDeclaration {
  /** The key of the block in endpoint files. */
  readonly key: string;
  /** Before the paths of all its routes: a slash and a segment. */
  readonly pathPrefix: string;
  readonly methods: readonly ('GET' | 'POST')[];
  /**
   * JSON Schema of the block's own keys, beside those of OperationOptions. `x-names: tag` (or `network`, or
   * `EVM network`) marks the name of one; `x-unique: true` what belongs to one endpoint alone.
   */
  readonly options: JsonSchema;
}

/** Throws where not exactly one rail sells endpoints at their own paths. */
export function baseRail(rails: readonly RailDeclaration[]): RailDeclaration {
  const [rail, ...others] = rails.filter(({ operation }) => !operation);
  if (rail && others.length === 0) return rail;
  throw new Error('exactly one rail must be without an operation, to sell endpoints at their own paths');
}

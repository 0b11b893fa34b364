// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

export type { TokenResolveResult as Result } from '../../schemas/token-resolve-result.ts';

export interface Request {
  /**
   * A token's mint address, in base58
   */
  mint?: string;
  /**
   * An asset id, an alias, or chain-a-<mint>
   */
  ref?: string;
}

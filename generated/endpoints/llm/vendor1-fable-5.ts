// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

export type { TieredTextResult as Result } from '../../schemas/tiered-text-result.ts';

export interface Request {
  /**
   * The question or task for the model
   */
  prompt: string;
  /**
   * Instructions that stand above the prompt
   */
  system_prompt?: string;
  /**
   * Most output tokens: small 1024, medium 4096, large 8192
   */
  tier: 'small' | 'medium' | 'large';
  /**
   * A public https URL of an image to look at
   */
  image?: string;
}

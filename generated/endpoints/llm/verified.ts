// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

export type { VerifiedTextResult as Result } from '../../schemas/verified-text-result.ts';

export interface Request {
  /**
   * The model that answers; its tier sets the price
   */
  model:
    | 'vendor8-v4-flash'
    | 'vendor3-oss-20b'
    | 'vendor9-2.5-7b'
    | 'vendor9-3.5-27b'
    | 'vendor9-3.6-27b'
    | 'vendor9-3-vl-30b'
    | 'vendor3-oss-120b'
    | 'vendor2-4-31b'
    | 'vendor9-3.5-122b'
    | 'vendor5-k2.6'
    | 'vendor6-5.2'
    | 'vendor8-v4-pro';
  /**
   * The question or task for the model
   */
  prompt: string;
  /**
   * Instructions that stand above the prompt
   */
  system_prompt?: string;
  /**
   * Most output tokens; without effect on the price. Left out, 1024
   */
  max_tokens?: number;
  /**
   * How freely the model chooses its words; models that have no temperature leave it out, and metadata.ignored says so
   */
  temperature?: number;
}

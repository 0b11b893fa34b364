// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

export type { UsageTextResult as Result } from '../../schemas/usage-text-result.ts';

/**
 * A prompt or a conversation for a language model
 */
export interface Request {
  /**
   * The question or task for the model
   */
  prompt?: string;
  /**
   * A conversation in place of prompt, in the form of chat completions
   *
   * @minItems 1
   * @maxItems 1000
   */
  messages?: {
    /**
     * Who speaks
     */
    role: 'system' | 'user' | 'assistant';
    /**
     * Text, or parts of text and images
     */
    content:
      | string
      | {
          type: 'text' | 'image_url';
          /**
           * The text of a text part
           */
          text?: string;
          /**
           * The image of an image_url part
           */
          image_url?: {
            /**
             * A public https URL of an image
             */
            url: string;
          };
        }[];
  }[];
  /**
   * Instructions that stand above the prompt
   */
  system_prompt?: string;
  /**
   * Most output tokens; lowers the price. Left out, the model's own default bound
   */
  max_tokens?: number;
  /**
   * How freely the model chooses its words; models that have no temperature leave it out, and metadata.ignored says so
   */
  temperature?: number;
  /**
   * The model that answers
   */
  model:
    | 'vendor5-k2.6'
    | 'vendor6-5.1'
    | 'vendor2-3.5-flash'
    | 'vendor3-5.2'
    | 'vendor3-5.6-luna'
    | 'vendor3-5.6-terra'
    | 'vendor3-5.6-sol'
    | 'vendor4-4.5'
    | 'vendor5-k3'
    | 'vendor1-fable-5'
    | 'vendor7-3-ultra-550b'
    | 'vendor8-v4-pro';
}

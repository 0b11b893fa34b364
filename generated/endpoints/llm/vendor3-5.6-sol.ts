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
}

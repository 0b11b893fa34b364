// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

export type { CreativeDirectionResult as Result } from '../../schemas/creative-direction-result.ts';

export interface Request {
  /**
   * The idea, in plain words
   */
  idea: string;
  /**
   * Public https URLs of images to take as references
   *
   * @maxItems 3
   *
   * Items: A public https URL of an image
   */
  reference_images?: string[];
}

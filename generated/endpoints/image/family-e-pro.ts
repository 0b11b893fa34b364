// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

export type { ImageResult as Result } from '../../schemas/image-result.ts';

export interface Request {
  /**
   * What to make, in plain words
   */
  prompt: string;
  /**
   * Width to height such as 16:9, or match_input_image to take that of the first reference image
   */
  aspect_ratio?: string;
  /**
   * Public https URLs of images to take as references
   *
   * @maxItems 14
   *
   * Items: A public https URL of an image
   */
  referenceImage?: string[];
}

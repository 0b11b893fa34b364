// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

export type { ImageResult as Result } from '../../schemas/image-result.ts';

export interface Request {
  /**
   * What to make, in plain words
   */
  prompt: string;
  /**
   * Width to height, or match_input_image to take that of the first reference image
   */
  aspect_ratio?: '1:1' | '2:3' | '3:2' | '3:4' | '4:3' | '4:5' | '5:4' | '9:16' | '16:9' | '21:9' | 'match_input_image';
  /**
   * Public https URLs of images to take as references
   *
   * @maxItems 10
   *
   * Items: A public https URL of an image
   */
  referenceImage?: string[];
}

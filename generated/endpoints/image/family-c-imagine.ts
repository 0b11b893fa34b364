// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

export type { ImageResult as Result } from '../../schemas/image-result.ts';

export interface Request {
  /**
   * What to make, in plain words
   */
  prompt: string;
  /**
   * A public https URL of one image to edit
   */
  referenceImage?: string;
}

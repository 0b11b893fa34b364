// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

export type { ImageResult as Result } from '../../schemas/image-result.ts';

export interface Request {
  /**
   * What to make, in plain words
   */
  prompt: string;
  /**
   * Width to height such as 16:9
   */
  aspect_ratio: string;
  /**
   * Public https URLs of images; only the first is used
   *
   * @maxItems 10
   *
   * Items: A public https URL of an image
   */
  referenceImage?: string[];
}

export type { ImageModelMirrorResult as ChainEResult } from '../../schemas/image-model-mirror-result.ts';

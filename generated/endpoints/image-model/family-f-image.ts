// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

export type { ImageResult as Result } from '../../schemas/image-result.ts';

export interface Request {
  /**
   * What to make, in plain words
   */
  prompt: string;
  /**
   * Width to height
   */
  aspect_ratio: '1:1' | '16:9' | '9:16' | '4:3' | '3:4' | '3:2' | '2:3';
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

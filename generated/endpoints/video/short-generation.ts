// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

export type { VideoResult as Result } from '../../schemas/video-result.ts';

export interface Request {
  /**
   * What to make, in plain words
   */
  prompt: string;
  /**
   * Width to height, or auto or adaptive to let the model choose
   */
  aspect_ratio?: '16:9' | '4:3' | '1:1' | '3:4' | '9:16' | 'auto' | 'adaptive';
  /**
   * A public https URL of the first frame
   */
  image_url?: string;
}

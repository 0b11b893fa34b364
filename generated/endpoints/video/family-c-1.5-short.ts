// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

export type { VideoResult as Result } from '../../schemas/video-result.ts';

export interface Request {
  /**
   * What to make, in plain words
   */
  prompt: string;
  /**
   * A public https URL of the first frame; its path ends in .jpeg, .jpg, .png or .webp
   */
  image_url: string;
  /**
   * Height of the picture
   */
  resolution: '480p' | '720p' | '1080p';
  /**
   * Width to height, or auto or adaptive to let the model choose
   */
  aspect_ratio: '16:9' | '4:3' | '3:2' | '1:1' | '2:3' | '3:4' | '9:16' | 'auto' | 'adaptive';
}

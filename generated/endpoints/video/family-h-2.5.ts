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
  aspect_ratio: '21:9' | '16:9' | '4:3' | '1:1' | '3:4' | '9:16' | 'auto' | 'adaptive';
  /**
   * Seconds; the price scales with it
   */
  duration: number;
  /**
   * Height of the picture
   */
  resolution: '480p' | '720p';
  /**
   * Whether to make sound with it
   */
  generate_audio?: boolean;
  /**
   * Public https URLs of images to take as references
   *
   * @maxItems 30
   *
   * Items: A public https URL of an image
   */
  reference_images?: string[];
}

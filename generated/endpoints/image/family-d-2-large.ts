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
  aspect_ratio?: '1:1' | '4:3' | '3:2' | '16:9' | '2.35:1' | '4:5' | '2:3' | '9:16';
  /**
   * How far to go beyond the prompt: raw draws what it says, high takes liberties
   */
  creativity?: 'raw' | 'low' | 'medium' | 'high';
  /**
   * Taken and without effect here. It weighs a mood board, and this service has none
   */
  moodboard_strength?: number;
  /**
   * How much the reference images count
   */
  style_reference_strength?: number;
  /**
   * Public https URLs of images to take as references
   *
   * @maxItems 10
   *
   * Items: A public https URL of an image
   */
  referenceImage?: string[];
}

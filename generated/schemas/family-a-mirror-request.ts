// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * A prompt, with the model's own settings
 */
export interface FamilyAMirrorRequest {
  /**
   * What to make, in plain words
   */
  prompt: string;
  /**
   * Size in megapixels, 0.5, 1, 2 or 4, such as 1 MP; without effect where aspect_ratio is custom
   */
  resolution: string;
  /**
   * Width to height, match_input_image, or custom with width and height
   */
  aspect_ratio:
    '1:1' | '16:9' | '9:16' | '4:3' | '3:4' | '3:2' | '2:3' | '4:5' | '5:4' | 'match_input_image' | 'custom';
  /**
   * Public https URLs of images to take as references
   *
   * @maxItems 8
   *
   * Items: A public https URL of an image
   */
  input_images?: string[];
  /**
   * Format of the file
   */
  output_format: 'webp' | 'png' | 'jpg';
  /**
   * Quality of the file; png is always lossless
   */
  output_quality: number;
  /**
   * From 1 (strict) to 5 (permissive)
   */
  safety_tolerance: number;
  /**
   * The same seed repeats an image
   */
  seed?: number;
  /**
   * Pixels; needed, and only allowed, where aspect_ratio is custom
   */
  width?: number;
  /**
   * Pixels; needed, and only allowed, where aspect_ratio is custom
   */
  height?: number;
}

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
   * Size in megapixels, or match_input_image beside the aspect_ratio of that name; without effect where aspect_ratio is custom
   */
  resolution: '0.5 MP' | '1 MP' | '2 MP' | '4 MP' | 'match_input_image';
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
   * Pixels; needed, and only allowed, where aspect_ratio is custom. The model rounds to the nearest multiple of 32
   */
  width?: number;
  /**
   * Pixels; needed, and only allowed, where aspect_ratio is custom. The model rounds to the nearest multiple of 32
   */
  height?: number;
}

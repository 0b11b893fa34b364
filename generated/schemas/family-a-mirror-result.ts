// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * A finished image
 */
export interface FamilyAMirrorResult {
  /**
   * Where the image is
   */
  image_url: string;
  /**
   * The prompt that was used
   */
  image_description: string;
  /**
   * How the image was made
   */
  metadata: {
    /**
     * The model that made it
     */
    model: string;
    /**
     * The resolution that was asked for
     */
    resolution: string;
    /**
     * The aspect ratio that was asked for
     */
    aspect_ratio: string;
    /**
     * The format of the file
     */
    output_format: string;
    /**
     * The provider's own copy, which it deletes within the hour
     */
    replicate_url: string;
    /**
     * True where a sandbox made the image
     */
    sandbox?: boolean;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}

// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * A finished image
 */
export interface ImageModelMirrorResult {
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
     * The aspect ratio that was asked for
     */
    aspectRatio: string;
    /**
     * The reference images that were used
     */
    reference_images: string[];
    /**
     * The provider's own id of the call
     */
    request_id?: string;
    /**
     * The request's fields besides the prompt and images
     */
    parameters?: {
      [k: string]: unknown;
    };
    /**
     * Pixels
     */
    width?: number;
    /**
     * Pixels
     */
    height?: number;
    /**
     * True where a sandbox made the image
     */
    sandbox?: boolean;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}

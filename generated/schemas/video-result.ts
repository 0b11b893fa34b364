// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * A finished video
 */
export interface VideoResult {
  /**
   * Where the video is
   */
  video_url: string;
  /**
   * A still image of it
   */
  thumbnail_url?: string;
  /**
   * Seconds
   */
  duration: number;
  /**
   * The model that made it
   */
  model: string;
  /**
   * How the video was made
   */
  metadata: {
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
     * The resolution that was asked for
     */
    resolution?: string;
    /**
     * The aspect ratio that was asked for
     */
    aspect_ratio?: string;
    /**
     * Whether it has sound
     */
    generate_audio?: boolean;
    /**
     * The images that were used
     */
    reference_images?: string[];
    /**
     * What the duration was read from
     */
    duration_source?: 'file' | 'request';
    /**
     * True where a sandbox made the video
     */
    sandbox?: boolean;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}

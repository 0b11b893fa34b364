// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * A finished piece of music
 */
export interface MusicResult {
  /**
   * Where the music is
   */
  music_url: string;
  /**
   * How long it plays, in seconds
   */
  duration_seconds: number;
  /**
   * How the music was made
   */
  metadata: {
    /**
     * The model that made it
     */
    model?: string;
    /**
     * The provider's own id of the call
     */
    request_id?: string;
    /**
     * The request's fields besides the prompt
     */
    parameters?: {
      [k: string]: unknown;
    };
    /**
     * MIME type of the file
     */
    format?: string;
    /**
     * The format that was asked for
     */
    output_format?: string;
    /**
     * Whether singing was ruled out
     */
    force_instrumental?: boolean;
    /**
     * What the duration was read from
     */
    duration_source?: 'file' | 'request';
    /**
     * True where a sandbox made the music
     */
    sandbox?: boolean;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}

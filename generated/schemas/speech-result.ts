// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * Finished speech
 */
export interface SpeechResult {
  /**
   * Where the sound file is
   */
  audio_url: string;
  /**
   * How long it plays, in seconds
   */
  duration_seconds?: number;
  /**
   * How the speech was made
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
     * The request's fields besides the text
     */
    parameters?: {
      [k: string]: unknown;
    };
    /**
     * mp3 or wav
     */
    codec?: string;
    /**
     * Hertz, where it was asked for
     */
    sample_rate?: number;
    /**
     * Bits a second, where it was asked for
     */
    bit_rate?: number;
    /**
     * Length of the text
     */
    characters?: number;
    /**
     * MIME type of the file
     */
    format?: string;
    /**
     * True where a sandbox made the speech
     */
    sandbox?: boolean;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}

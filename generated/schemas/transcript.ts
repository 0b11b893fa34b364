// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * What is said in a sound file
 */
export interface Transcript {
  /**
   * What is said
   */
  text: string;
  /**
   * How the transcript was made
   */
  metadata: {
    /**
     * The model that made it
     */
    model: string;
    /**
     * The language that was heard, or that was asked for where the model does not say; und where neither is known
     */
    language: string;
    /**
     * How long the file plays, where it says so
     */
    duration_seconds?: number;
    /**
     * True where a sandbox made the transcript
     */
    sandbox?: boolean;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}

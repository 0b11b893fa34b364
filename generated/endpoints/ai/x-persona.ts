// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

export interface Result {
  /**
   * Who the account is
   */
  persona: {
    /**
     * A short portrait
     */
    summary: string;
    /**
     * How it comes across
     */
    tone: string;
    /**
     * What it keeps coming back to
     */
    core_topics: string[];
    /**
     * What it stands for
     */
    beliefs: string[];
    [k: string]: unknown;
  };
  /**
   * How it writes
   */
  style_profile: {
    /**
     * Length, punctuation, vocabulary
     */
    writing_style: string;
    /**
     * The voice it speaks in
     */
    voice: string;
    [k: string]: unknown;
  };
  /**
   * What it posts
   */
  content_patterns: {
    /**
     * Kinds of posts such as threads, replies, jokes
     */
    formats: string[];
    /**
     * What single posts are about
     */
    topics: string[];
    /**
     * When and how it posts
     */
    posting_behavior: string;
    [k: string]: unknown;
  };
  /**
   * A picture that would suit it
   */
  avatar: {
    /**
     * Such as photo, illustration, pixel art
     */
    image_type: string;
    /**
     * A prompt that draws it
     */
    prompt: string;
    /**
     * The account's own profile picture
     */
    reference_images: string[];
    [k: string]: unknown;
  };
  [k: string]: unknown;
}

export interface Request {
  /**
   * A username on X, with or without @
   */
  x_username: string;
}

// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * What an idea is after, what was found, and where to take it
 */
export interface CreativeDirectionResult {
  /**
   * What the idea is after
   */
  intent: {
    /**
     * What it is to achieve
     */
    goal: string;
    /**
     * Whom it speaks to
     */
    audience: string;
    /**
     * How it speaks
     */
    tone: string;
    /**
     * Where it will be seen
     */
    medium: string;
    /**
     * Words that describe it
     */
    keywords: string[];
    [k: string]: unknown;
  };
  /**
   * Pages that a web search found; empty where it found none
   */
  research: {
    /**
     * The page's title
     */
    title: string;
    /**
     * The page's address as the search gave it
     */
    url: string;
    /**
     * What it shows
     */
    summary: string;
    /**
     * Why it matters to the idea
     */
    relevance: string;
    [k: string]: unknown;
  }[];
  /**
   * Three directions that differ from each other
   */
  direction: {
    /**
     * Its name
     */
    title: string;
    /**
     * The thought behind it
     */
    concept: string;
    /**
     * Colours, as #rrggbb
     */
    palette: string[];
    /**
     * How the picture is built
     */
    composition: string;
    /**
     * A prompt for an image model
     */
    prompt: string;
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}

// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * An answer in text, with the proof of where it was made
 */
export interface VerifiedTextResult {
  /**
   * The answer
   */
  text: string;
  /**
   * The model that answered
   */
  model: string;
  /**
   * True where the proof was checked and holds; where it does not, metadata.reason says why
   */
  verified: boolean;
  /**
   * Tokens used
   */
  usage: {
    /**
     * Tokens read
     */
    prompt_tokens: number;
    /**
     * Tokens written, reasoning included
     */
    completion_tokens: number;
    /**
     * Tokens read and written
     */
    total_tokens: number;
    [k: string]: unknown;
  };
  /**
   * What the environment signed
   */
  proof: {
    /**
     * The provider's name of the receipt
     */
    receipt_id: string;
    /**
     * True where a fresh attestation report vouches for the signing key
     */
    attested: boolean;
    /**
     * What signed: an Ed25519 public key in hex, or an address
     */
    tee_key: string | null;
    /**
     * SHA-256 of the request that the environment read, in hex
     */
    request_hash: string | null;
    /**
     * SHA-256 of the answer that the environment gave, in hex
     */
    response_hash: string | null;
    /**
     * Where the anchored proof can be seen on a chain
     */
    explorer_url: string | null;
    /**
     * Where the provider keeps the proof
     */
    verify_url: string;
    /**
     * The signed document as it came
     */
    signed?: {
      [k: string]: unknown;
    };
    [k: string]: unknown;
  };
  /**
   * How the answer was made
   */
  metadata: {
    /**
     * Why the model stopped; length means at max_tokens
     */
    finish_reason?: string;
    /**
     * The provider's own id of the answer
     */
    upstream_id?: string;
    /**
     * Output tokens spent on reasoning
     */
    reasoning_tokens?: number;
    /**
     * Why the answer is not verified
     */
    reason?: string;
    /**
     * All that does not hold
     */
    faults?: string[];
    /**
     * The attestation report in short
     */
    attestation: {
      /**
       * aci/1 or signature
       */
      protocol: string;
      /**
       * The kind of hardware, such as tdx
       */
      tee: string;
      /**
       * What the report was asked to bind
       */
      nonce: string;
      /**
       * When the report was fetched
       */
      checked_at: string;
      /**
       * Why the report does not vouch for the key
       */
      fault?: string;
      /**
       * Whether the maker's signature of the hardware quote was checked too
       */
      quote_verified: boolean;
      [k: string]: unknown;
    };
    /**
     * True where a sandbox answered
     */
    sandbox?: boolean;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}

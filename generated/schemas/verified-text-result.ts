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
   * True where nothing that was checked of the proof is wrong; metadata.checks lists what was checked and what was not
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
     * What was checked of the proof and how it came out: ok, failed, or unchecked. report: the attestation report is for the key that signed the answer. report_data: the hardware's quote binds that key to a nonce of the gateway's. certificate_chain: the quote's certificates lead to the root that attestation.root names. quoting_enclave, attestation_key, quote_signature: the quote was signed by Intel's quoting enclave on hardware so certified. production_mode: the environment is not open to debugging. measurement: it runs what the gateway's operator allows; unchecked where the operator names no measurements. collateral: revoked certificates and outdated firmware; always unchecked, because only Intel's service could tell. answer_signature, request_hash, response_hash: the key signed this request and this answer, byte for byte. With aci/1 besides, keys_current: the keys have not expired; receipt: it names the attested keys; stated_environment: the attested host states in it that it verified the environment of the model, whose own quote is not fetched. quote: failed where the report has no quote to check.
     */
    checks: {
      [k: string]: 'ok' | 'failed' | 'unchecked';
    };
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
       * True where genuine hardware signed the quote, by every signature up to the root
       */
      quote_verified: boolean;
      /**
       * The certificate that the quote's chain has to end in
       */
      root: string;
      /**
       * What the hardware measured of the environment, as the quote has it: mr_td, mr_config_id, mr_owner, mr_owner_config and rtmr0 to rtmr3, SHA-384 in hex
       */
      measurements: {
        [k: string]: string;
      } | null;
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

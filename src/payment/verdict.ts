/** Whether a payment could be settled now, as far as can be known without doing it. */
export type Verdict =
  | {
      valid: true;
      payer: string;
      /** True where settling deploys the wallet that pays. */
      deploys?: boolean;
    }
  | { valid: false; reason: string };

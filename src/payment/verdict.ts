/** Whether a payment could be settled now, as far as can be known without doing it. */
export type Verdict = { valid: true; payer: string } | { valid: false; reason: string };

/** Structured log lines; pino's signature. Keys, proofs, signatures and prompts are never passed to it. */
export interface Log {
  debug(details: object, message: string): void;
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

/** A promise that was broken. */
export interface Violation {
  readonly promise: string;
  readonly text: string;
  /** The purchase that it happened to, whose timeline shows how. */
  readonly mark?: string | undefined;
}

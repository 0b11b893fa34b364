/** A stretch of time, in milliseconds since the epoch. */
export interface Period {
  readonly from: number;
  /** Not part of it. */
  readonly to: number;
}

/** Places on the road of a paid request that the world sees, since the gateway asks it there: where a process is killed. */
export const moments = [
  'verify asked',
  'verify answered',
  'upstream asked',
  'upstream half answered',
  'upstream answered',
  'settle asked',
  'settled',
  'settle answered',
  'chain asked',
] as const;

export type Moment = (typeof moments)[number];

/** Called at once, before anything else happens. `mark` names the purchase, where the world knows it. */
export type OnMoment = (moment: Moment, slot: number, mark: string | undefined) => void;

/**
 * Alerts on their way to webhooks: written once for an occurrence, whoever finds it out and however often, and sent at
 * least once by whichever instance takes them.
 */

/** `waiting`: to be sent, or sent again. */
export type AlertState = 'waiting' | 'sent' | 'given-up';

export interface Alert {
  /** What happened, and when or to what: `spend.daily:2026-11-22`. */
  readonly occurrence: string;
  /** The webhook's URL. */
  readonly receiver: string;
  readonly type: string;
  /** As it is sent, as JSON. */
  readonly body: string;
  readonly state: AlertState;
  /** Times that an instance took it. Writes of an older attempt are refused. */
  readonly attempt: number;
  /** Why it is not sent yet, in words for the operator. */
  readonly fault: string | undefined;
  /** When it is taken next, in milliseconds since the epoch. */
  readonly dueAt: number;
  readonly createdAt: number;
}

/** One alert for several receivers. */
export interface NewAlert extends Pick<Alert, 'occurrence' | 'type' | 'body'> {
  readonly receivers: readonly string[];
}

/** Something that lasts, as one instance sees it. */
export interface Condition {
  /** `upstream.down:predictions`. */
  readonly subject: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** What is told of the change; its occurrence is completed by when the condition began. */
  readonly alert: NewAlert;
}

type Attempt = Pick<Alert, 'occurrence' | 'receiver' | 'attempt'>;

export interface AlertStore {
  /** What was written before, to the same receiver, stays as it is. */
  add(alert: NewAlert, now: number): Promise<void>;
  /** Holds until `until` unless raised again. True, and told, where no instance had raised it. */
  raise(condition: Condition, until: number): Promise<boolean>;
  /** Those of the subjects that are raised hold until `until`. */
  hold(subjects: readonly string[], until: number): Promise<void>;
  /** True, and told, where it was raised and no instance has held it lately. */
  clear(condition: Condition): Promise<boolean>;
  /** Subjects of the conditions that hold. */
  raised(): Promise<string[]>;
  /** For whom something is due. */
  receivers(now: number): Promise<string[]>;
  /**
   * Takes what is due for a receiver: sales after everything else, and the longest due first. What happens to none of them
   * makes them due again at `leaseUntil`.
   */
  take(by: {
    readonly receiver: string;
    readonly now: number;
    readonly leaseUntil: number;
    readonly limit: number;
  }): Promise<Alert[]>;
  /** Whoever has it by now. */
  sent(alert: Pick<Alert, 'occurrence' | 'receiver'>): Promise<void>;
  /** To be sent again at `dueAt`; undefined: given up. False where another instance has it by now. */
  failed(attempt: Attempt, fault: string, dueAt: number | undefined): Promise<boolean>;
  /** Newest first. */
  list(filter: { readonly states?: readonly AlertState[]; readonly limit: number }): Promise<Alert[]>;
}

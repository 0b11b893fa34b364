/** Calls that their callers have given a name, among the values that are kept for a day. Asked under the lock of their key. */
import { type Steps, unwatched } from '../engines/steps.ts';
import { findKept, keepValue } from '../kept-statements.ts';
import type { StoredAnswer } from '../stored-answer.ts';
import type { CallName, NamedCall } from './credit-store.ts';

/** As it is kept. */
export interface KnownCall {
  /** The call that has the name: the newest that was made under it. */
  readonly id: string;
  readonly digest: string;
  /** Undefined where it has none, or one that is too long to be kept. */
  readonly answer?: StoredAnswer;
}

const keyFor = (name: string): string => `call:${name}`;

export function* knownCall({ name, since }: CallName): Steps<KnownCall | undefined> {
  const { rows } = yield findKept(keyFor(name), since);
  return rows[0] && (JSON.parse(String(rows[0].value)) as KnownCall);
}

export function* keepCall({ name, digest }: NamedCall, id: string, now: number, answer?: StoredAnswer): Steps<void> {
  const known: KnownCall = { id, digest, ...(answer && { answer }) };
  yield unwatched(keepValue(keyFor(name), JSON.stringify(known), now));
}

/** What callers have spent of what all instances together allow them. */
import type { Statement } from './engines/statement.ts';
import type { AllowanceSpent } from './store.ts';

export const spendAllowance = ({ name, milliseconds, longestMs }: AllowanceSpent, now: number): Statement => ({
  text: `INSERT INTO allowances (name, whole_at) VALUES (?1, ?2)
    ON CONFLICT (name) DO UPDATE SET whole_at = CASE
      WHEN allowances.whole_at < ?3 THEN excluded.whole_at
      WHEN allowances.whole_at > ?5 THEN ?5 ELSE allowances.whole_at + ?4 END
    RETURNING whole_at`,
  values: [name, now + milliseconds, now, milliseconds, now + longestMs],
});

/** Every SQL statement about values that are kept for a while, by their keys. */
import type { Statement } from './engines/statement.ts';

export const findKept = (key: string, notBefore: number): Statement => ({
  text: 'SELECT value, stored_at FROM kept WHERE key = ?1 AND stored_at > ?2',
  values: [key, notBefore],
});

/** Makes a row that can be locked where there is none, and empties one that was kept at `since` or earlier. */
export const reserveKept = (key: string, since: number, now: number): Statement => ({
  text: `INSERT INTO kept (key, value, stored_at) VALUES (?1, '', ?2)
    ON CONFLICT (key) DO UPDATE SET value = '', stored_at = excluded.stored_at WHERE kept.stored_at <= ?3`,
  values: [key, now, since],
});

export const keepValue = (key: string, value: string, now: number): Statement => ({
  text: `INSERT INTO kept (key, value, stored_at) VALUES (?1, ?2, ?3)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value, stored_at = excluded.stored_at`,
  values: [key, value, now],
});

/** Changes no row where that value is kept already. */
export const keepAnother = (key: string, value: string, now: number): Statement => ({
  text: `INSERT INTO kept (key, value, stored_at) VALUES (?1, ?2, ?3)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value, stored_at = excluded.stored_at WHERE kept.value <> excluded.value`,
  values: [key, value, now],
});

/** The numbers of a signer's transactions. */

import type { Statement } from './engines/statement.ts';
import type { NonceRequest } from './nonce-store.ts';

/** `taken_at` of the row is the newest; a number is one less than `next`. */
export const takeNonce = ({ account, atLeast, now, forgottenBefore }: NonceRequest): Statement => ({
  text: `INSERT INTO nonces (account, next, taken_at) VALUES (?1, ?2, ?3)
    ON CONFLICT (account) DO UPDATE SET taken_at = excluded.taken_at, next = CASE
      WHEN nonces.taken_at < ?4 OR nonces.next < excluded.next THEN excluded.next ELSE nonces.next + 1 END
    RETURNING next`,
  values: [account, atLeast + 1, now, forgottenBefore],
});

export const returnNonce = (account: string, nonce: number): Statement => ({
  text: 'UPDATE nonces SET next = ?2 WHERE account = ?1 AND next = ?3',
  values: [account, nonce, nonce + 1],
});

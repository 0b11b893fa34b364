import type { NonceStore } from '../../store/nonce-store.ts';

/** For accounts that only this process sends from. */
export function ownNonces(): NonceStore {
  const taken = new Map<string, { next: number; at: number }>();
  return {
    now: Date.now,
    async takeNonce({ account, atLeast, now, forgottenBefore }) {
      const last = taken.get(account);
      const next = last && last.at >= forgottenBefore ? Math.max(last.next, atLeast) : atLeast;
      taken.set(account, { next: next + 1, at: now });
      return next;
    },
    async returnNonce(account, nonce) {
      const last = taken.get(account);
      if (last?.next === nonce + 1) taken.set(account, { ...last, next: nonce });
    },
  };
}

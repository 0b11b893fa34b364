/**
 * Assets in which a payment was refused, most often because its payer has too little: the next call is paid in another one. What
 * was refused is not signed again for the same call, for a gateway may keep what it refuses.
 */
import type { Asset } from './asset.ts';
import type { Offer } from './offers.ts';

export interface Refused {
  /** Sorts offers in other assets first, and otherwise leaves them in their order. */
  compare(one: Offer, other: Offer): number;
  has(offer: Offer): boolean;
  add(offer: Offer): void;
  /** One was taken. */
  remove(offer: Offer): void;
}

export function openRefused(): Refused {
  const assets = new Set<Asset>();
  const has = ({ asset }: Offer): boolean => assets.has(asset);
  return {
    compare: (one, other) => Number(has(one)) - Number(has(other)),
    has,
    add: ({ asset }) => void assets.add(asset),
    remove: ({ asset }) => void assets.delete(asset),
  };
}

import type { Price } from '../catalogue/types.ts';
import { toDecimal } from '../money.ts';

/** `0.05`, or `0.05-0.1` where requests differ; in dollars. */
export const priceRange = ({ fixed, listed, min, max }: Price): string =>
  fixed ? toDecimal(listed) : `${toDecimal(min)}-${toDecimal(max)}`;

import { toDecimal } from '../../money.ts';
import type { Price } from '../types.ts';

/** `0.05`, or `0.05-0.1` where requests differ; in dollars. */
export const priceRange = ({ fixed, listed, min, max }: Price): string =>
  fixed ? toDecimal(listed) : `${toDecimal(min)}-${toDecimal(max)}`;

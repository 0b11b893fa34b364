import type { ExposureControl } from '../../../src/payment/exposure/control.ts';
import { exposurePolicy } from '../../../src/payment/exposure/policy.ts';

const FORTUNE = 10n ** 30n;

/** Everybody is trusted with everything. */
export const noExposure: ExposureControl = {
  policy: exposurePolicy({ settleUpfront: { contracts: false } }),
  version: 0,
  settlesUpfront: () => false,
  limits: () => ({ perPayer: FORTUNE, newPayer: FORTUNE, failures: Number.MAX_SAFE_INTEGER, failuresSince: 0 }),
  refresh: async () => {},
};

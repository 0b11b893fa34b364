import type { ExposureControl } from '../../../src/payment/exposure/control.ts';
import { exposurePolicy } from '../../../src/payment/exposure/policy.ts';

const FORTUNE = 10n ** 30n;

/** Everybody is trusted with everything. */
export const noExposure: ExposureControl = {
  policy: exposurePolicy({ settleUpfront: { contracts: false } }),
  version: 0,
  upfront: () => undefined,
  upfrontFor: {
    contracts: false,
    failedSettlements: Number.MAX_SAFE_INTEGER,
    newTogetherAbove: '1000000',
    newUnsettledAbove: '1000000',
    unsettledAbove: '1000000',
  },
  wasTold: () => true,
  reserve: () => ({
    limits: { perPayer: FORTUNE, newPayer: FORTUNE, failures: Number.MAX_SAFE_INTEGER, failuresSince: 0 },
    release: () => {},
    workEnded: () => {},
  }),
  refresh: async () => {},
};

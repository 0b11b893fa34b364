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
    unprovenAbove: '1000000',
    unprovenTogetherAbove: '1000000',
    unsettledAbove: '1000000',
  },
  wasTold: () => true,
  reserve: () => ({
    limits: { perPayer: FORTUNE, unproven: FORTUNE, failures: Number.MAX_SAFE_INTEGER, failuresSince: 0 },
    release: () => {},
    workEnded: () => {},
  }),
  refresh: async () => {},
};

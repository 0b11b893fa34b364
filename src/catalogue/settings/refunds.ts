import type { RefundsFile, ServiceFile } from '../types.ts';

/** `refunds` of `service.yaml`, in whichever form it was written. */
export const refundsOf = ({ refunds = 'manual' }: Pick<ServiceFile, 'refunds'>): Required<RefundsFile> => ({
  automatic: false,
  endpoint: false,
  ...(typeof refunds === 'string' ? { automatic: refunds === 'automatic' } : refunds),
});

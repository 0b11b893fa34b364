import type { Route } from '../../../catalogue/types.ts';
import { type ExposurePolicy, isAbove } from '../../../payment/exposure/policy.ts';
import { endsTooSoonOn } from '../../../payment/settle-upfront.ts';

type Network = Parameters<typeof endsTooSoonOn>[0];

/** Requests that settle first, field -> values. */
export type UpfrontWhere = Readonly<Record<string, readonly string[]>>;

/** Which requests settle first on a network: what is signed there does not outlive the work, or all of them cost too much. */
export function upfrontOn(network: Network, route: Route, policy: ExposurePolicy): 'all' | UpfrontWhere | undefined {
  const { deadlineMs, deadlineBy, price } = route;
  if (isAbove(policy, route, price.min)) return 'all';
  const isLate = (ms: number): boolean => endsTooSoonOn(network, { deadlineMs: ms });
  if (!deadlineBy) return isLate(deadlineMs) ? 'all' : undefined;
  const late = [...deadlineBy.ms].flatMap(([value, ms]) => (isLate(ms) ? [value] : []));
  if (late.length === 0) return undefined;
  return late.length === deadlineBy.ms.size ? 'all' : { [deadlineBy.field]: late };
}

/** ` where tier is medium or large`; nothing where it is all of them. */
export function whereInWords(where: 'all' | UpfrontWhere): string {
  if (where === 'all') return '';
  const fields = Object.entries(where).map(([field, values]) => `${field} is ${values.join(' or ')}`);
  return ` where ${fields.join(' and ')}`;
}

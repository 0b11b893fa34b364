import { createHash } from 'node:crypto';
import type { GatewayRequest } from '../request/request.ts';

/** Binds a payment to the request that it was made for. */
export function requestDigest({ method, path, query, body }: GatewayRequest): string {
  const digest = createHash('sha256').update(body).digest('hex');
  return createHash('sha256').update([method, path, query, digest].join('\n')).digest('hex');
}

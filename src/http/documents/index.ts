/** What the gateway answers besides what is sold, as OpenAPI: one file for each door. */
import type { OwnOperations } from '../../discovery/openapi.ts';
import { apiKeyOperations } from './api-keys.ts';
import { mcpOperations } from './mcp.ts';
import { purchaseOperations } from './purchases.ts';
import { serviceOperations } from './service.ts';

/** `refunds`: whether payers may ask for their money; `channels`: whether calls are drawn from deposits. */
export function ownOperations(parts: { readonly refunds: boolean; readonly channels: boolean }): OwnOperations {
  const doors = [apiKeyOperations, purchaseOperations(parts), mcpOperations, serviceOperations];
  return {
    tags: doors.flatMap(({ tags }) => tags),
    operations: doors.flatMap(({ operations }) => operations),
    security: Object.assign({}, ...doors.map(({ security }) => security)),
    schemas: Object.assign({}, ...doors.map(({ schemas }) => schemas)),
  };
}

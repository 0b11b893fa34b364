/** What the gateway answers besides what is sold, as OpenAPI: one file for each door. */
import type { OwnOperations } from '../../discovery/openapi.ts';
import { apiKeyOperations } from './api-keys.ts';
import { mcpOperations } from './mcp.ts';
import { purchaseOperations } from './purchases.ts';
import { serviceOperations } from './service.ts';

interface Parts {
  /** Names of those that are sold to API keys. */
  readonly models: readonly string[];
  /** Whether payers may ask for their money. */
  readonly refunds: boolean;
  /** Whether calls are drawn from deposits. */
  readonly channels: boolean;
}

export function ownOperations(parts: Parts): OwnOperations {
  const doors = [apiKeyOperations(parts.models), purchaseOperations(parts), mcpOperations, serviceOperations];
  return {
    tags: doors.flatMap(({ tags }) => tags),
    operations: doors.flatMap(({ operations }) => operations),
    security: Object.assign({}, ...doors.map(({ security }) => security)),
    schemas: Object.assign({}, ...doors.map(({ schemas }) => schemas)),
  };
}

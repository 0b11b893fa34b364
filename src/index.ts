/** What an application of one's own imports: `import { openGateway } from 'turnpike'`. See also `turnpike/sandbox` and `turnpike/live`. */

export { loadCatalogue } from './catalogue/load.ts';
export type { Catalogue, Endpoint, Route } from './catalogue/types.ts';
export { type Config, readConfig } from './gateway/config.ts';
export { openGateway } from './gateway/gateway.ts';
export { shipped } from './gateway/shipped.ts';
export { createLog, type Log } from './log.ts';
export type { Platform } from './platform.ts';

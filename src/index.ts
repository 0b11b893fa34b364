/** What an application of one's own imports: `import { openGateway } from 'turnpike'`. See also `turnpike/sandbox` and `turnpike/live`. */

export { loadCatalogue } from './catalogue/load.ts';
export type { Catalogue, Endpoint, Route } from './catalogue/types.ts';
export { type Config, readConfig } from './config.ts';
export { openGateway } from './gateway.ts';
export { createLog, type Log } from './log.ts';
export type { Platform } from './platform.ts';
export { shipped } from './shipped.ts';

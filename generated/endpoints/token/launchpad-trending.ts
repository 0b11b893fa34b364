// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

export type { LaunchpadResult as Result } from '../../schemas/launchpad-result.ts';

export interface Request {}

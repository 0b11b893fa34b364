import { keepsItsPromises } from './promises.ts';

await keepsItsPromises('sqlite');

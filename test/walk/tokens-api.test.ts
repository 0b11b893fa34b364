import { tokensApiRows } from './rows/tokens-api.ts';
import { openWalk, walk } from './walk.ts';

await walk(await openWalk(), tokensApiRows);

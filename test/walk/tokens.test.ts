import { tokenRows } from './rows/tokens.ts';
import { openWalk, walk } from './walk.ts';

await walk(await openWalk(), tokenRows);

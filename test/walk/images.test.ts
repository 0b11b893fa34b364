import { imageRows } from './rows/images.ts';
import { openWalk, walk } from './walk.ts';

await walk(await openWalk(), imageRows);

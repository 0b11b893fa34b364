import { socialRows } from './rows/social.ts';
import { multiModelRows, tieredRows, usageRows, verifiedRows } from './rows/text.ts';
import { openWalk, walk } from './walk.ts';

await walk(await openWalk(), [...tieredRows, ...usageRows, ...multiModelRows, ...verifiedRows, ...socialRows]);

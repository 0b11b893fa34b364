import { imageModelRows } from './rows/images.ts';
import { audioRows, videoRows } from './rows/media.ts';
import { openWalk, walk } from './walk.ts';

await walk(await openWalk(), [...videoRows, ...audioRows, ...imageModelRows]);

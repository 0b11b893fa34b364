/** Where the thread of `sqlite-thread.ts` begins: tsx, which lets Node load TypeScript, does not reach into threads. */
require('tsx/cjs/api').register();
require('./sqlite-worker.ts');

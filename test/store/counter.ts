/** A process that counts one movement after the other, and tells of each: `counter.ts <file>`. */
import { openSqliteStore } from '../../src/store/sqlite.ts';

const store = openSqliteStore(process.argv[2] ?? '');
while (await store.figures.count(1)) process.stdout.write('counted\n');
await store.close();

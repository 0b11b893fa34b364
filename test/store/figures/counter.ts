/** A process that counts one movement after the other, so many at most, and tells of each: `counter.ts <file> <most>`. */
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts';

const [file = '', most] = process.argv.slice(2);
const store = openSqliteStore(file);
for (let counted = 0; counted < Number(most) && (await store.figures.count(1)); counted += 1) {
  process.stdout.write('counted\n');
}
// Whoever has started it ends it.
setInterval(() => {}, 60_000);

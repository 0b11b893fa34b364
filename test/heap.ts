import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function heapUsed(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** Bytes that are still held once it has been done: of what has to be forgotten, next to none. */
export async function heapLeftBy(work: () => void | Promise<void>): Promise<number> {
  const before = heapUsed();
  await work();
  return heapUsed() - before;
}

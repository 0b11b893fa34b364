/** A gateway holds no more at the end than at its start. */
import type { Measured } from '../gateway.ts';
import type { Violation } from './violation.ts';

/** What is loaded and compiled with use, and what is kept ready: connections to the database, and caches. */
const HEAP_BYTES = 32 * 1024 * 1024;
const DESCRIPTORS = 24;

export function checkProcess(start: Measured, end: Measured): Violation[] {
  const promise = 'memory and descriptors come back to what they were';
  const heap = end.heapBytes - start.heapBytes;
  const descriptors = (end.descriptors ?? 0) - (start.descriptors ?? 0);
  return [
    ...(heap > HEAP_BYTES ? [{ promise, text: `the heap grew by ${Math.round(heap / 1024)} KiB` }] : []),
    ...(descriptors > DESCRIPTORS ? [{ promise, text: `${descriptors} more descriptors are open` }] : []),
  ];
}

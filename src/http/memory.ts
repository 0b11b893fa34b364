import { totalmem } from 'node:os';

/** On a machine, or in a container, of 4 GB or more. */
const MOST_BYTES = 256 * 2 ** 20;
/** Of 256 MB Node and the catalogue take 110; and Node lets go of memory only once it has 64 MB more than it needs. */
const PART_OF_MEMORY = 16;

/** How much strangers may have kept for them in one way, all together, in bytes: what they send, or what they do not read. */
export const MOST_FOR_STRANGERS = Math.min(
  MOST_BYTES,
  // Of a container; where there is no limit it is 0, or more than there is.
  Math.min(totalmem(), process.constrainedMemory() || totalmem()) / PART_OF_MEMORY,
);

/** Loaded first by every process of a trial: which mistake is made in it, and which could have been. */
import { appendFileSync } from 'node:fs';

const { TURNPIKE_MUTANT, TURNPIKE_REACHED } = process.env;
const made = Number(TURNPIKE_MUTANT);
const reached = new Set();

/** Whether this mistake is made. Where a file for it is named, tells it that somebody asked, once. */
globalThis.$mutant = (id) => {
  if (TURNPIKE_REACHED && !reached.has(id)) {
    reached.add(id);
    appendFileSync(TURNPIKE_REACHED, `${id}\n`);
  }
  return id === made;
};

/** Loaded first by every process of a trial: which mistake is made in it, and which could have been. */
import { ChildProcess } from 'node:child_process';
import { appendFileSync } from 'node:fs';

const { NODE_OPTIONS, TURNPIKE_MUTANT, TURNPIKE_REACHED } = process.env;
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

const handedOn = Object.entries({ NODE_OPTIONS, TURNPIKE_MUTANT, TURNPIKE_REACHED }).filter(
  ([, value]) => value !== undefined,
);
const { spawn } = ChildProcess.prototype;

/** Programs that a test gives an environment of their own have the mistake all the same. */
ChildProcess.prototype.spawn = function (options) {
  const own = options.envPairs ?? [];
  const others = own.filter((pair) => !handedOn.some(([name]) => pair.startsWith(`${name}=`)));
  const envPairs = [...others, ...handedOn.map(([name, value]) => `${name}=${value}`)];
  return spawn.call(this, { ...options, envPairs });
};

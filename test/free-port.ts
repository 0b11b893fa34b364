/** Ports for what has to be told one before it starts. */
import { createServer, type Server } from 'node:net';

/**
 * Below the range from which the kernel gives outgoing connections theirs (32768 and up on Linux): there one could be
 * taken between the look and the use.
 */
const FIRST = 12_000;
const LAST = 32_000;
/** More than a process asks for before the first it was given is listened on. */
const BLOCK = 50;

const listeningOn = (port: number): Promise<Server | undefined> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined)).listen(port, '127.0.0.1', () => resolve(server));
  });

/** The first port of a block is listened on for as long as this process lives: the others are no other process's. */
async function ownBlock(): Promise<number> {
  const blocks = (LAST - FIRST) / BLOCK;
  for (let tried = 0; tried < blocks; tried += 1) {
    const first = FIRST + ((process.pid + tried) % blocks) * BLOCK;
    const guard = await listeningOn(first);
    if (!guard) continue;
    guard.unref();
    return first;
  }
  throw new Error(`each of the ${blocks} blocks of ports from ${FIRST} to ${LAST} belongs to another process`);
}

let block: Promise<number> | undefined;
let given = 0;

/** A port that nobody listens on, and that no other test is given meanwhile. */
export async function freePort(): Promise<number> {
  block ??= ownBlock();
  const first = await block;
  for (let tried = 1; tried < BLOCK; tried += 1) {
    given = (given % (BLOCK - 1)) + 1;
    const port = first + given;
    const server = await listeningOn(port);
    if (!server) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
  throw new Error(`something listens on each port from ${first} to ${first + BLOCK - 1}`);
}

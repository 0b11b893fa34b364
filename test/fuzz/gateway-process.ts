/** A gateway in its sandbox in a process of its own, so that what holds its event loop is the gateway. It answers its parent. */
import { readdirSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { freePort } from '../free-port.ts';
import { startGateway } from '../gateway.ts';
import { watchTurns } from './turns.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const [, , doubles = ''] = process.argv;
const adminPort = await freePort();
const gateway = await startGateway({
  networks: ['chain-a', 'chain-c', 'chain-e'],
  tempo: true,
  environment: { TURNPIKE_ADMIN_PORT: String(adminPort) },
  // The doubles make pictures and films, which is slow: they run with the parent. Quotes hold only under a root of one's own.
  between: async (sandbox) => ({
    trustedOrigins: [...sandbox.trustedOrigins, doubles],
    baseUrlOf(upstream) {
      const own = new URL(sandbox.baseUrlOf?.(upstream) ?? '');
      return upstream.name === 'tee' ? own.href : doubles + own.pathname;
    },
    readFrom(url, options) {
      const { pathname, search } = sandbox.readFrom?.(url, options) ?? url;
      return new URL(doubles + pathname + search);
    },
  }),
});
const turns = watchTurns();

const questions = {
  start: async () => ({
    url: gateway.url,
    adminUrl: `http://127.0.0.1:${adminPort}`,
    state: gateway.state,
    directory: gateway.directory,
  }),
  earned: (network: string) => gateway.earned(network).then(String),
  longestTurn: () => turns.longest(),
  heapBytes: async () => {
    collectGarbage();
    return process.memoryUsage().heapUsed;
  },
  descriptors: async () => readdirSync('/proc/self/fd').length,
};
export type Questions = typeof questions;

export interface Question {
  readonly id: number;
  readonly name: keyof Questions;
  readonly argument: string;
}

process.on('message', async ({ id, name, argument }: Question) => {
  const answer = await questions[name](argument);
  process.send?.({ id, answer });
});
process.once('disconnect', async () => {
  await gateway.stop();
  process.exit();
});
process.send?.('ready');

/** The gateway under test, as the process that sends the requests sees it. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import Database from 'libsql';
import { startDoubles } from '../../src/sandbox/doubles/index.ts';
import type { Gateway } from '../clients.ts';
import { openCatalogue } from '../upstream/served-routes.ts';
import type { Questions } from './gateway-process.ts';

type Answer<Name extends keyof Questions> = Awaited<ReturnType<Questions[Name]>>;

/** What grows where something leaks. */
export interface Size {
  readonly heapMegabytes: number;
  readonly descriptors: number;
}

export interface MeasuredGateway extends Gateway {
  /** The operator's port. */
  readonly adminUrl: string;
  /** What the pay-to address of a network holds, in atomic units. */
  earned(network: string): Promise<bigint>;
  /** CPU time of the longest turn of the event loop since this was asked last, in milliseconds. */
  longestTurn(): Promise<number>;
  size(): Promise<Size>;
  /** Rejects where its process ends by itself. */
  readonly gone: Promise<never>;
  /** The first number of what a query finds in its store. */
  count(query: string): number;
  stop(): Promise<void>;
}

const PROCESS = join(import.meta.dirname, 'gateway-process.ts');

export async function startMeasuredGateway(): Promise<MeasuredGateway> {
  const doubles = await startDoubles({ upstreams: [...openCatalogue().upstreams.values()] });
  const child = fork(PROCESS, [doubles.origin], {
    execArgv: ['--import=tsx'],
    env: { ...process.env, LOG_LEVEL: 'error' },
  });
  const ended = once(child, 'exit');
  let isStopped = false;
  const gone = new Promise<never>((_, reject) => {
    child.once('exit', (code, signal) => {
      if (!isStopped) reject(new Error(`the gateway's process ended with ${code ?? signal}`));
    });
  });
  gone.catch(() => {});
  const waiting = new Map<number, (answer: unknown) => void>();
  let asked = 0;
  const ask = <Name extends keyof Questions>(name: Name, argument = ''): Promise<Answer<Name>> => {
    asked += 1;
    const id = asked;
    const answer = new Promise<Answer<Name>>((resolve) => waiting.set(id, resolve as (answer: unknown) => void));
    // Where nobody is there to take it, `gone` says so.
    child.send({ id, name, argument }, () => {});
    return Promise.race([answer, gone]);
  };
  await Promise.race([once(child, 'message'), gone]);
  child.on('message', ({ id, answer }: { id: number; answer: unknown }) => {
    waiting.get(id)?.(answer);
    waiting.delete(id);
  });
  const { url, adminUrl, state, directory } = await ask('start');
  const database = new Database(join(directory, 'turnpike.sqlite'), { readonly: true });
  const earned = async (network: string) => BigInt(await ask('earned', network));
  return {
    url,
    state,
    adminUrl,
    gone,
    earned,
    longestTurn: () => ask('longestTurn'),
    size: async () => ({
      heapMegabytes: (await ask('heapBytes')) / 2 ** 20,
      descriptors: await ask('descriptors'),
    }),
    count: (query) => Number(Object.values(database.prepare(query).get() as object)[0]),
    async stop() {
      isStopped = true;
      database.close();
      child.disconnect();
      await ended;
      await doubles.close();
    },
  };
}

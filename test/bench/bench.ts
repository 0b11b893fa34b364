/** What a row of the benchmark is given, and the servers that rows compare. */
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { BUILT, buildGateway } from '../../codegen/build.ts';
import { callEveryUpstreamAt } from './catalogue.ts';
import { type GatewayOptions, startAsBuilt } from './gateway.ts';
import type { Load } from './load.ts';
import { installPeers, type Peer, startPeer } from './peers.ts';
import { type ServerProcess, startServer } from './server-process.ts';
import { subject } from './subject.ts';

/** For one row: whatever it starts ends with it. */
export interface Bench {
  readonly load: Load;
  readonly rounds: number;
  /** Of one round. */
  readonly milliseconds: number;
  readonly catalogue: string;
  readonly doublesUrl: string;
  /** A new folder. */
  folder(): string;
  /** As it is built for production; calls the double in the place of every upstream. */
  gateway(options?: Partial<GatewayOptions>): Promise<ServerProcess>;
  /** Repeats the 402 of the gateway at this address, and asks for work without keeping anything. */
  bare(on: Bare, gatewayUrl: string): Promise<ServerProcess>;
  /** Undefined where peers cannot be had. */
  peer(peer: Peer): Promise<ServerProcess | undefined>;
  /** Stopped at the end of the row. */
  keep<Stopped extends { stop(): unknown }>(stopped: Stopped): Stopped;
}

export interface BenchOptions {
  readonly rounds: number;
  readonly milliseconds: number;
  readonly catalogue: string;
}

/** Headers that belong to a connection, or that a server counts itself. */
const NOT_CONSTANT = ['connection', 'keep-alive', 'date', 'content-length', 'transfer-encoding'];

/** The first 402. */
export async function ask(url: string): Promise<{ headers: Record<string, string>; body: string }> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url + subject.path, { method: 'POST', headers, body: subject.body });
  const body = await answer.text();
  if (answer.status !== 402) throw new Error(`${url}${subject.path} answered ${answer.status}: ${body.slice(0, 500)}`);
  return { headers: Object.fromEntries(answer.headers), body };
}

let installed: Promise<string | undefined> | undefined;

const installOnce = (): Promise<string | undefined> => {
  installed ??= installPeers().catch((error: unknown) => {
    process.stderr.write(`the peers could not be had: ${error instanceof Error ? error.message : String(error)}\n`);
    return undefined;
  });
  return installed;
};

let built: Promise<void> | undefined;

const buildOnce = (catalogue: string): Promise<void> => {
  built ??= buildGateway(BUILT, catalogue);
  return built;
};

/** Runs what needs a bench. `directory` has to exist. */
export async function withBench<Result>(
  load: Load,
  directory: string,
  options: BenchOptions,
  run: (bench: Bench) => Promise<Result>,
): Promise<Result> {
  const stops: (() => unknown)[] = [];
  const own = mkdtempSync(join(directory, 'row-'));
  const folder = () => mkdtempSync(join(own, 'folder-'));
  const keep: Bench['keep'] = (stopped) => {
    stops.push(() => stopped.stop());
    return stopped;
  };
  try {
    const doubles = keep(
      await startServer({ words: ['--import=tsx', 'test/bench/servers/doubles.ts'], environment: {} }),
    );
    return await run({
      ...options,
      load,
      doublesUrl: doubles.url,
      folder,
      keep,
      async gateway(given) {
        await buildOnce(options.catalogue);
        const catalogue = join(folder(), 'catalogue');
        callEveryUpstreamAt(given?.catalogue ?? options.catalogue, catalogue, doubles.url);
        const data = join(folder(), 'data');
        return keep(await startAsBuilt({ data, doublesUrl: doubles.url, ...given, catalogue }));
      },
      bare: async (on, gatewayUrl) => keep(await startBare(on, gatewayUrl, doubles.url)),
      async peer(peer) {
        const packages = await installOnce();
        return packages === undefined ? undefined : keep(await startPeer(peer, packages, doubles.url));
      },
    });
  } finally {
    for (const stop of stops.reverse()) await stop();
    rmSync(own, { recursive: true, force: true });
  }
}

/** `settling`: on node:http, with the facilitator asked to verify and to settle. */
export type Bare = 'express' | 'node' | 'settling';

export async function startBare(on: Bare, gatewayUrl: string, doublesUrl: string): Promise<ServerProcess> {
  const answer = await ask(gatewayUrl);
  for (const name of NOT_CONSTANT) delete answer.headers[name];
  return startServer({
    words: ['--import=tsx', `test/bench/servers/bare-${on === 'express' ? 'express' : 'node'}.ts`],
    environment: { BENCH_BARE: JSON.stringify({ answer, doublesUrl, settles: on === 'settling' }) },
  });
}

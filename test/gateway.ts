/** A whole gateway in its sandbox, for tests that come in through the front door. */
import './own-fetch.ts';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createHttpServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Express } from 'express';
import type { Upstream } from '../src/catalogue/types.ts';
import { openApp } from '../src/gateway/app.ts';
import { readConfig } from '../src/gateway/config.ts';
import { openGateway } from '../src/gateway/gateway.ts';
import { createLog, type Log } from '../src/log.ts';
import { type Intervals, usualIntervals } from '../src/payment/intervals.ts';
import type { Platform } from '../src/platform.ts';
import type { SandboxState } from '../src/rails/paying-client.ts';
import { openSandbox, type Sandbox } from '../src/sandbox/index.ts';
import { freePort } from './free-port.ts';
import { loadSound } from './load-catalogue.ts';

export interface Gateway {
  readonly url: string;
  readonly sandbox: Sandbox;
  readonly state: SandboxState;
  readonly directory: string;
  /** What the pay-to address of a network holds, in atomic units. */
  earned(network: string): Promise<bigint>;
  /** What the wallet of a network holds, in atomic units. */
  spendable(network: string): Promise<bigint>;
  calls(): Promise<{
    upstreamCalls: number;
    settlementCount: number;
    upstreams: Record<string, number>;
    settlements: Record<string, number>;
  }>;
  fault(request: { upstream?: string; settlement?: string; fault: string; count?: number }): Promise<void>;
  /** Another instance in an application that somebody else made, and the same instance behind its own listener. */
  mountedIn(application: Express): Promise<{ readonly mounted: string; readonly own: string }>;
  /** Loads the catalogue's files again. */
  reload(): Promise<unknown>;
  /**
   * A second instance over the same store and the same sandbox, of another catalogue, data or intervals where they are
   * given: its address.
   */
  startAnother(now?: () => number, catalogue?: string, data?: string, intervals?: Partial<Intervals>): Promise<string>;
  /** Stops what was started besides the first instance. */
  stopOthers(): Promise<void>;
  stop(): Promise<void>;
}

export interface GatewayOptions {
  readonly catalogue?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Local chains to start; default: chain-a and chain-c. */
  readonly networks?: readonly string[];
  readonly tempo?: boolean;
  readonly now?: () => number;
  /** In place of the usual ones. */
  readonly intervals?: Partial<Intervals>;
  /** The clock of the local Solana. */
  readonly solanaNow?: () => number;
  /** Default: to standard error, by the environment's level. */
  readonly log?: Log;
  /** Puts something between the gateway and its sandbox: a relay, or a facilitator that takes its time. */
  readonly between?: (sandbox: Sandbox) => Promise<Partial<Platform>>;
  /** Upstream -> base URL of what takes the place of its double. */
  readonly upstreams?: Readonly<Record<string, string>>;
}

async function configOf(directory: string, options: GatewayOptions) {
  return readConfig({
    PORT: String(await freePort()),
    TURNPIKE_DATA: directory,
    TURNPIKE_CATALOGUE: options.catalogue ?? process.env.TURNPIKE_CATALOGUE ?? 'catalogue',
    TURNPIKE_DRAIN_SECONDS: '1',
    LOG_LEVEL: process.env.LOG_LEVEL ?? 'silent',
    ...options.environment,
  });
}

async function listening(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export async function startGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const directory = mkdtempSync(join(tmpdir(), 'turnpike-test-'));
  const config = await configOf(directory, options);
  const log = options.log ?? createLog(config.logLevel);
  const catalogue = loadSound(config.catalogueDirectory);
  // What checks a transaction on Tempo is loaded before one is signed: it ends 25 seconds later.
  if (options.tempo) await import('../src/rails/mpp/tempo-chain.ts');
  const sandbox = await openSandbox(catalogue, log, {
    networks: options.networks ?? ['chain-a', 'chain-c'],
    tempo: options.tempo ?? false,
    ...(options.environment && { variables: options.environment }),
    ...(options.solanaNow && { solanaNow: options.solanaNow }),
  });
  const intervals = { ...usualIntervals, ...options.intervals };
  const open = async () => {
    const platform = {
      ...sandbox,
      baseUrlOf: (upstream: Upstream) => options.upstreams?.[upstream.name] ?? sandbox.baseUrlOf?.(upstream),
      ...(await options.between?.(sandbox)),
    };
    return { platform, app: await openApp(config, catalogue, platform, log, options.now, intervals) };
  };
  const clearAway = async () => {
    await sandbox.stop();
    rmSync(directory, { recursive: true, force: true });
  };
  const { platform, app } = await open().catch(async (error: unknown) => {
    // Its chains are processes of their own: a test that fails here would never end.
    await clearAway();
    throw error;
  });
  const url = app.url;
  const state = sandbox.state as SandboxState;
  const others: (() => Promise<void>)[] = [];
  const stopOthers = async () => void (await Promise.all(others.splice(0).map((close) => close())));
  return {
    url,
    sandbox,
    state,
    directory,
    reload: app.reload,
    startAnother: async (now, other, data = directory, given = {}) => {
      const sold = other === undefined ? catalogue : loadSound(other);
      const its = { ...usualIntervals, ...given };
      const another = await openApp(await configOf(data, options), sold, platform, log, now, its);
      others.push(another.close);
      return another.url;
    },
    mountedIn: async (application) => {
      const gateway = await openGateway(await configOf(directory, options), catalogue, sandbox, log, options.now);
      application.use(gateway.router);
      const servers = [createHttpServer(application), createHttpServer(gateway.listener)];
      const [mounted = '', own = ''] = await Promise.all(servers.map(listening));
      others.push(async () => {
        for (const server of servers) server.close().closeAllConnections();
        await gateway.close();
      });
      return { mounted, own };
    },
    earned: (network) => sandbox.balance(network, state.payTo[network] ?? ''),
    spendable: (network) => sandbox.balance(network, sandbox.payer(network)),
    calls: async () => (await fetch(`${url}/sandbox/calls`)).json() as ReturnType<Gateway['calls']>,
    fault: async (request) => {
      const answer = await fetch(`${url}/sandbox/faults`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ count: 1, ...request }),
      });
      if (!answer.ok) throw new Error(await answer.text());
    },
    stopOthers,
    stop: async () => {
      await Promise.all([app.close(), stopOthers()]);
      await clearAway();
    },
  };
}

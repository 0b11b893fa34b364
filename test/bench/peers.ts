/** The gateways and middlewares beside which this one is measured: installed apart, once for each machine. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type ServerProcess, startServer } from './server-process.ts';
import { accepted, offer, subject } from './subject.ts';

const INSTALL_TIMEOUT_MS = 180_000;
const X402 = '2.27.0';

const manifest = JSON.stringify({
  private: true,
  type: 'module',
  dependencies: {
    '@faremeter/middleware': '0.22.0',
    // Under later ones Portkey fails to stream: it changes headers that are handed on as they came.
    '@hono/node-server': '1.13.8',
    '@portkey-ai/gateway': '1.15.2',
    '@x402/core': X402,
    '@x402/evm': X402,
    '@x402/express': X402,
    express: '5.3.0',
    mppx: '0.11.0',
    // Later ones want a release of ox that is not published.
    viem: '2.57.1',
  },
  overrides: { viem: '$viem', '@hono/node-server': '$@hono/node-server' },
});

/** Each is a script in `servers/peers/`. */
export type Peer = 'x402-express' | 'faremeter' | 'mppx' | 'portkey';

/** The folder with the packages. Rejects where they cannot be had. */
export async function installPeers(): Promise<string> {
  const version = createHash('sha256').update(manifest).digest('hex').slice(0, 12);
  const directory = join(tmpdir(), `turnpike-bench-peers-${version}`);
  if (!existsSync(directory)) await install(directory);
  cpSync(fileURLToPath(new URL('servers/peers', import.meta.url)), directory, { recursive: true });
  return directory;
}

async function install(directory: string): Promise<void> {
  const unfinished = `${directory}.${process.pid}`;
  mkdirSync(unfinished);
  try {
    writeFileSync(join(unfinished, 'package.json'), manifest);
    await promisify(execFile)('npm', ['install', '--legacy-peer-deps', '--no-audit', '--no-fund', '--ignore-scripts'], {
      cwd: unfinished,
      timeout: INSTALL_TIMEOUT_MS,
    });
    renameSync(unfinished, directory);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

export const startPeer = (peer: Peer, directory: string, doublesUrl: string): Promise<ServerProcess> =>
  startServer({
    words: [`${peer}.mjs`],
    directory,
    environment: { BENCH_PEER: JSON.stringify({ doublesUrl, path: subject.path, offer, accepted }) },
  });

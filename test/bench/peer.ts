/** @x402/express, which peers on a release that does not exist: installed apart, once for each machine. */
import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type ServerProcess, startServer } from './server-process.ts';
import { offer, subject } from './subject.ts';

const VERSION = '2.27.0';
const INSTALL_TIMEOUT_MS = 180_000;

const manifest = {
  private: true,
  type: 'module',
  dependencies: {
    '@x402/core': VERSION,
    '@x402/evm': VERSION,
    '@x402/express': VERSION,
    express: '5.3.0',
    // Later ones want a release of ox that is not published.
    viem: '2.57.1',
  },
  overrides: { viem: '$viem' },
};

/** The folder with the packages. */
async function install(): Promise<string> {
  const directory = join(tmpdir(), `turnpike-bench-x402-express-${VERSION}`);
  if (existsSync(directory)) return directory;
  const unfinished = `${directory}.${process.pid}`;
  mkdirSync(unfinished);
  try {
    writeFileSync(join(unfinished, 'package.json'), JSON.stringify(manifest));
    await promisify(execFile)('npm', ['install', '--legacy-peer-deps', '--no-audit', '--no-fund', '--ignore-scripts'], {
      cwd: unfinished,
      timeout: INSTALL_TIMEOUT_MS,
    });
    renameSync(unfinished, directory);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return directory;
}

/** Rejects where the packages cannot be had. */
export async function startPeer(doublesUrl: string): Promise<ServerProcess> {
  const directory = await install();
  copyFileSync(new URL('servers/x402-express.mjs', import.meta.url), join(directory, 'server.mjs'));
  return startServer({
    words: ['server.mjs'],
    directory,
    environment: { BENCH_PEER: JSON.stringify({ doublesUrl, path: subject.path, offer }) },
  });
}

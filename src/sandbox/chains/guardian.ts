/** Ends what this process has started when it is gone, killed or crashed: a shell that waits for its input to close. */
import { type ChildProcess, spawn } from 'node:child_process';

/** Told `+ <pid>` and `- <pid>`: what is over by itself must not be killed, for another may have its number then. */
const SCRIPT = `
pids=
while read -r sign pid; do
  others=
  for one in $pids; do [ "$one" = "$pid" ] || others="$others $one"; done
  pids=$others
  [ "$sign" = - ] || pids="$pids $pid"
done
[ -z "$pids" ] || kill -9 $pids
`;

let guardian: ChildProcess | undefined;

/** One for all that this process starts. It does not keep the process from ending, and an interrupt does not reach it. */
function tell(sign: '+' | '-', pid: number): void {
  if (guardian === undefined) {
    guardian = spawn('/bin/sh', ['-c', SCRIPT], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    guardian.on('error', () => undefined);
    guardian.stdin?.on('error', () => undefined);
    guardian.unref();
  }
  guardian.stdin?.write(`${sign} ${pid}\n`);
}

/** Sees to it that the child does not outlive this process. On Windows, only where this process ends by itself. */
export function guard(child: ChildProcess): void {
  const { pid } = child;
  if (pid === undefined) return;
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  child.once('exit', () => process.removeListener('exit', end));
  if (process.platform === 'win32') return;
  tell('+', pid);
  child.once('exit', () => tell('-', pid));
}

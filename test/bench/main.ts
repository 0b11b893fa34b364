/** The gateway beside its peers, each row inside one run on one machine. */
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { misused, programOptions } from '../program-options.ts';
import { withBench } from './bench.ts';
import { startLoad } from './load.ts';
import { rows } from './rows/index.ts';
import { type Line, printed } from './table.ts';

const USAGE = 'npm run bench -- [--only <row>,<row>] [--rounds 9] [--seconds 0.7]';

const values = programOptions(USAGE, {
  only: { type: 'string' },
  /** Many short ones: neighbours on the machine then disturb all servers alike. */
  rounds: { type: 'string', default: '9' },
  seconds: { type: 'string', default: '0.7' },
});

function positive(name: 'rounds' | 'seconds'): number {
  const value = Number(values[name]);
  if (value > 0 && (name === 'seconds' || Number.isInteger(value))) return value;
  return misused(`--${name} has to be a ${name === 'rounds' ? 'whole ' : ''}number above 0`);
}

function chosen(): typeof rows {
  const names = values.only?.split(',') ?? rows.map(({ name }) => name);
  const unknown = names.filter((name) => !rows.some((row) => row.name === name));
  if (unknown.length === 0) return rows.filter(({ name }) => names.includes(name));
  const known = rows.map(({ name }) => name).join(', ');
  return misused(`--only: there is no row ${unknown.join(', ')}; there are ${known}`);
}

function machine(): string {
  const processors = cpus();
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  const model = processors[0]?.model.trim() ?? 'unknown';
  return `${processors.length} × ${model}, ${gigabytes} GB, ${process.platform}, Node ${process.version}`;
}

const options = {
  rounds: positive('rounds'),
  milliseconds: positive('seconds') * 1000,
  catalogue: process.env.TURNPIKE_CATALOGUE ?? 'catalogue',
};
const running = chosen();
const directory = mkdtempSync(join(tmpdir(), 'turnpike-bench-'));
const load = startLoad();
const lines: Line[] = [];
try {
  for (const row of running) {
    process.stderr.write(`${row.name}\n`);
    try {
      lines.push(...(await withBench(load, directory, options, (bench) => row.run(bench))));
    } catch (error) {
      process.exitCode = 1;
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
      lines.push({ row: row.name, who: 'turnpike', measured: 'failed' });
    }
  }
} finally {
  load.stop();
  rmSync(directory, { recursive: true, force: true });
}
const taken = `${options.rounds} rounds of ${options.milliseconds / 1000} s, medians`;
process.stdout.write(`${printed(lines)}\n\n${machine()}\n${new Date().toISOString().slice(0, 10)}, ${taken}\n`);

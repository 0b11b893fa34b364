/** `npm run init`: a directory with a small catalogue of one's own. */
import { run } from './command.ts';
import { readOperands, UsageProblem } from './command-line.ts';
import { nextStep, writeProject } from './init/project.ts';

const USAGE = `npm run init -- <directory>

  writes a catalogue with one upstream and one endpoint, and the package.json that sells it; overwrites nothing
  --deploy   also a Dockerfile, a compose.yaml with Postgres and three gateways behind Caddy, a systemd unit,
             and a Grafana dashboard with alert rules for Prometheus`;

await run(async () => {
  const { values, positionals } = readOperands(USAGE, { deploy: { type: 'boolean' } }, process.argv.slice(2));
  const [directory, ...others] = positionals;
  if (directory === undefined || others.length > 0) throw new UsageProblem(`name one directory\n\n${USAGE}`);
  const { written, kept } = writeProject(directory, values.deploy === true);
  for (const file of written) process.stdout.write(`wrote ${file}\n`);
  for (const file of kept) process.stdout.write(`left  ${file}, which was there\n`);
  process.stdout.write(`\nnext  ${nextStep(directory)}\n`);
});

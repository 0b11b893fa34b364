/** Every command of the sandbox's own `/llms.txt` is pasted into a shell as it stands. */
import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { catalogueOf } from '../few-endpoints.ts';
import { startGateway } from '../gateway.ts';
import { stoppedClock } from '../stopped-clock.ts';

const commandsOf = (text: string): string[] =>
  [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, command = '']) => command);

const programOf = (command: string): string => /^\S+/.exec(command)?.[0] ?? '';

const EVM = { program: 'node', reads: 'EVM_PRIVATE_KEY', paid: 'chain-c' };
const PYTHON = { program: 'python3', reads: 'EVM_PRIVATE_KEY', paid: 'chain-c' };
const SOLANA = { program: 'node', reads: 'SVM_PRIVATE_KEY', paid: 'chain-a' };
const MPP = { program: 'npx', reads: 'MPPX_PRIVATE_KEY', paid: 'chain-c' };
const TEMPO = { program: 'npx', reads: 'MPPX_PRIVATE_KEY', paid: 'tempo' };

const shipped = () => 'catalogue';
/** The examples are of the audio endpoints: with them alone they are the same. */
const audio = (t: Test) => catalogueOf(t, ['audio']);

for (const { sold, networks, tempo, examples } of [
  {
    sold: shipped,
    networks: ['chain-a', 'chain-c'],
    tempo: true,
    examples: [EVM, PYTHON, SOLANA, MPP, TEMPO],
  },
  { sold: audio, networks: ['chain-a'], tempo: true, examples: [SOLANA, TEMPO] },
  { sold: audio, networks: ['chain-c'], tempo: false, examples: [EVM, PYTHON, MPP] },
]) {
  const name = [...networks, ...(tempo ? ['tempo'] : [])].join(', ');
  t.test(`the examples of a sandbox with ${name} are pasted and pay`, async (t) => {
    const gateway = await startGateway({ catalogue: sold(t), networks, tempo, solanaNow: stoppedClock() });
    t.teardown(gateway.stop);
    const text = await (await fetch(`${gateway.url}/llms.txt`)).text();
    t.ok(text.split('\n').length < 200, 'as short as promised');
    const [variables = '', asking = '', ...commands] = commandsOf(text);
    t.same([variables, asking, ...commands].map(programOf), [
      'export',
      'curl',
      ...examples.map(({ program }) => program),
    ]);
    const { environment } = (await (await fetch(`${gateway.url}/sandbox`)).json()) as { environment: object };
    const paste = async (command: string): Promise<string> => {
      const { PATH = '' } = process.env;
      const env = { PATH, HOME: t.testdirName };
      const { stdout } = await promisify(execFile)('sh', ['-c', variables + command], { env });
      return stdout;
    };

    t.match(await paste(asking), /^HTTP\/1\.1 402 [\s\S]*^payment-required: /im);
    t.match(await gateway.calls(), { upstreamCalls: 0, settlementCount: 0 });

    for (const [index, { program, reads, paid }] of examples.entries()) {
      const command = commands[index] ?? '';
      t.hasProp(environment, reads);
      if (program !== 'npx') t.match(command, reads);
      if (program === 'python3') {
        // Its package is not among those of this project: that the program is one of Python is all that is tried.
        const [, lines = ''] = /<<'END'\n([\s\S]*)^END$/m.exec(command) ?? [];
        const parsed = 'import ast, sys; print(len(ast.parse(sys.stdin.read()).body))';
        const { stdout } = spawnSync('python3', ['-c', parsed], { input: lines, encoding: 'utf8' });
        t.ok(Number(stdout) > 6, 'is a program');
        continue;
      }
      const earned = await gateway.earned(paid);
      const printed = await paste(command);
      if (program === 'node') t.match(printed, /success: true[\s\S]*transaction: [\s\S]*metadata: /);
      else t.match(JSON.parse(printed), { metadata: { sandbox: true } });
      t.ok((await gateway.earned(paid)) > earned, `${paid} was paid`);
    }
  });
}

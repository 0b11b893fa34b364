/** Every command of the sandbox's own `/llms.txt` is pasted into a shell as it stands. */
import '../payment/facilitators/own-fetch.ts';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import t from 'tap';
import { startGateway } from '../gateway.ts';

const commandsOf = (text: string): string[] =>
  [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, command = '']) => command);

const programOf = (command: string): string => /^\S+/.exec(command)?.[0] ?? '';

for (const { networks, tempo, paidFirst, paidByMppx } of [
  { networks: ['chain-a', 'chain-c'], tempo: true, paidFirst: 'chain-a', paidByMppx: 'chain-c' },
  { networks: ['chain-a'], tempo: true, paidFirst: 'chain-a', paidByMppx: 'tempo' },
  { networks: ['chain-c'], tempo: false, paidFirst: 'chain-c', paidByMppx: 'chain-c' },
]) {
  const name = [...networks, ...(tempo ? ['tempo'] : [])].join(', ');
  t.test(`the examples of a sandbox with ${name} are pasted and pay`, async (t) => {
    const gateway = await startGateway({ networks, tempo });
    t.teardown(gateway.stop);
    const commands = commandsOf(await (await fetch(`${gateway.url}/llms.txt`)).text());
    t.same(commands.map(programOf), ['export', 'curl', 'node', 'npx']);
    const [variables = '', asking = '', program = '', mppx = ''] = commands;
    const { environment } = (await (await fetch(`${gateway.url}/sandbox`)).json()) as { environment: object };
    const read = /process\.env\.\w+/.exec(program)?.[0].replace('process.env.', '') ?? '';
    t.hasProps(environment, [read, 'MPPX_PRIVATE_KEY', ...(tempo ? ['MPPX_RPC_URL'] : [])]);
    const paste = async (command: string): Promise<string> => {
      const { PATH = '' } = process.env;
      const env = { PATH, HOME: t.testdirName };
      const { stdout } = await promisify(execFile)('sh', ['-c', variables + command], { env });
      return stdout;
    };

    t.match(await paste(asking), /^HTTP\/1\.1 402 [\s\S]*^payment-required: /im);
    t.match(await gateway.calls(), { upstreamCalls: 0, settlementCount: 0 });

    const before = await gateway.earned(paidFirst);
    t.match(await paste(program), /success: true[\s\S]*transaction: [\s\S]*metadata: /);
    t.ok((await gateway.earned(paidFirst)) > before, `${paidFirst} was paid`);

    const earned = await gateway.earned(paidByMppx);
    t.match(JSON.parse(await paste(mppx)), { metadata: { sandbox: true } });
    t.ok((await gateway.earned(paidByMppx)) > earned, `${paidByMppx} was paid`);
  });
}

#!/usr/bin/env node
/** `turnpike <command>`: every command of the package by its name. */

const commands: Readonly<Record<string, () => Promise<unknown>>> = {
  init: () => import('./init.ts'),
  start: () => import('./start.ts'),
  check: () => import('./check.ts'),
  import: () => import('./import.ts'),
  codegen: () => import('../../codegen/main.ts'),
  endpoints: () => import('./endpoints.ts'),
  diff: () => import('./diff.ts'),
  reload: () => import('./reload.ts'),
  pay: () => import('./pay.ts'),
  mcp: () => import('./mcp.ts'),
  client: () => import('./client.ts'),
  payments: () => import('./payments.ts'),
  refund: () => import('./refund.ts'),
  export: () => import('./export.ts'),
  reconcile: () => import('./reconcile.ts'),
  backup: () => import('./backup.ts'),
  alerts: () => import('./alerts.ts'),
  keys: () => import('./keys.ts'),
  'prove-ownership': () => import('./prove-ownership.ts'),
};

const [name = ''] = process.argv.splice(2, 1);
const command = commands[name];
if (command) {
  await command();
} else {
  const isHelp = name === '--help' || name === '-h';
  (isHelp ? process.stdout : process.stderr).write(`turnpike <command>: ${Object.keys(commands).join(', ')}

  turnpike init <directory>   a catalogue of your own, ready to sell in the sandbox
  turnpike <command> --help   what a command takes
`);
  process.exitCode = isHelp ? 0 : 1;
}

/** `npm run mcp`: a gateway's MCP server over stdio, for clients that start servers as processes and cannot pay. */
import './own-fetch.ts';
import './broken-pipe.ts';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { withoutControls } from '../control-characters.ts';
import { run } from './command.ts';
import { readArguments } from './mcp/arguments.ts';
import { exactInput } from './mcp/exact-input.ts';
import { askBack, type Caller, openBridge } from './mcp/serve.ts';

const caller: Caller = {
  environment: process.env,
  // To whoever runs this: standard output belongs to the protocol. What a gateway said may hold anything.
  tell: (line) => void process.stderr.write(`${withoutControls(line).slice(0, 1000)}\n`),
};

await run(async () => {
  const given = readArguments(process.argv.slice(2), process.env);
  if (given.refund) {
    if (!(await askBack(given, caller))) process.exitCode = 1;
    return;
  }
  const { createServer } = await openBridge(given, caller);
  const input = exactInput(process.stdin, (line) => void process.stdout.write(line));
  // Whoever starts it again has what is under way, once this process has let go of it.
  input.once('close', () => process.exit());
  serveStdio(createServer, { transport: new StdioServerTransport(input) });
});

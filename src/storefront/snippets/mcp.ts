import type { Snippet } from './snippet.ts';

/** For clients that start servers as processes. `group` is what it lists. */
export const mcp = (publicUrl: string, group: string, tool: string): Snippet => ({
  id: 'mcp',
  title: 'MCP client',
  note: `Configuration of Claude Desktop, Cursor and others: a server that pays within limits. The tool is ${tool}.`,
  language: 'json',
  text: JSON.stringify(
    {
      mcpServers: {
        [group]: {
          command: 'npx',
          args: ['--yes', 'turnpike', 'mcp', '--url', publicUrl, '--max', '0.25', '--budget', '2', '--tools', group],
          env: { TURNPIKE_WALLET_EVM: '0x...' },
        },
      },
    },
    undefined,
    2,
  ),
});

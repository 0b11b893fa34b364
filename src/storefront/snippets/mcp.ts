import type { ServiceFile } from '../../catalogue/types.ts';
import type { Snippet } from './snippet.ts';

/**
 * How the server is started: it gets the buyer's key, so that no name of a registry is good for it but one that the
 * operator has named.
 */
function start({ clientPackage }: Pick<ServiceFile, 'clientPackage'>) {
  return clientPackage === undefined
    ? {
        needs: " Needs a copy of Turnpike's sources, installed with npm install: put its place for /path/to/turnpike.",
        command: 'npm',
        words: ['--silent', '--prefix', '/path/to/turnpike', 'run', 'mcp', '--'],
      }
    : { needs: '', command: 'npx', words: ['--yes', clientPackage, 'mcp'] };
}

interface Gateway {
  readonly publicUrl: string;
  readonly service: ServiceFile;
}

/** For clients that start servers as processes. `group` is what it lists. */
export function mcp({ publicUrl, service }: Gateway, group: string, tool: string): Snippet {
  const { needs, command, words } = start(service);
  const server = {
    command,
    args: [...words, '--url', publicUrl, '--max', '0.25', '--budget', '2', '--tools', group],
    env: { TURNPIKE_WALLET_EVM: '0x...' },
  };
  return {
    id: 'mcp',
    title: 'MCP client',
    note: `Configuration of Claude Desktop, Cursor and others: a server that pays within limits. The tool is ${tool}.${needs}`,
    language: 'json',
    text: JSON.stringify({ mcpServers: { [group]: server } }, undefined, 2),
  };
}

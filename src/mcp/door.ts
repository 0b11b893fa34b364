/** `/mcp`. What speaks the protocol is loaded for the first who comes: it takes a moment, and memory. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Protocol, ProtocolParts } from './protocol.ts';

export interface Door {
  /** Takes a request whose body nobody has read. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  close(): Promise<void>;
}

export function createDoor(parts: ProtocolParts): Door {
  let opened: Promise<Protocol> | undefined;
  const open = async (): Promise<Protocol> => (await import('./protocol.ts')).openProtocol(parts);
  return {
    async handle(request, response) {
      opened ??= open();
      await (await opened).handle(request, response);
    },
    close: async () => (await opened)?.close(),
  };
}

/** The gateway on a server of its own, with the operator's port beside it. */
import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { consoleUrl, serveAdmin } from './console/server.ts';
import { type Gateway, openGateway } from './gateway.ts';
import { listen, silentConnections } from './http/server.ts';
import { within } from './timing.ts';

interface App extends Pick<Gateway, 'sold' | 'missing' | 'reload'> {
  readonly url: string;
  /** The operator's console; `token` where it was made for this start. Undefined: it is not served. */
  readonly console: { readonly url: string; readonly token: string | undefined } | undefined;
  close(): Promise<void>;
}

/** How long the last answers may be on their way before their connections are closed. */
const LAST_ANSWERS_MS = 1_000;

/** Listens. */
export async function openApp(...parts: Parameters<typeof openGateway>): Promise<App> {
  const [{ host, port: wanted, admin, drainMs }, , , log] = parts;
  const gateway = await openGateway(...parts);
  const { listener, idle, close } = gateway;
  const server = await listen(listener, host, wanted);
  const silent = silentConnections(server);
  const token = admin?.token ?? randomBytes(32).toString('base64url');
  const adminServer = admin && (await serveAdmin({ ...gateway, log }, { ...admin, token }));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    get sold() {
      return gateway.sold;
    },
    get missing() {
      return gateway.missing;
    },
    reload: gateway.reload,
    console: adminServer && {
      url: consoleUrl(adminServer),
      token: admin.token === undefined ? token : undefined,
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.once('close', () => resolve()));
      const stopped = close(closed);
      // While calls are under way, new ones are told that the gateway is shutting down.
      await within(drainMs, idle());
      server.close();
      server.closeIdleConnections();
      silent.close();
      await stopped;
      server.closeIdleConnections();
      await within(LAST_ANSWERS_MS, closed);
      server.closeAllConnections();
      adminServer?.close().closeAllConnections();
    },
  };
}

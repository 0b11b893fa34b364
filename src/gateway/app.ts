/** The gateway on a server of its own, with the operator's port beside it. */
import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { consoleUrl, type Operated, serveAdmin } from '../console/server.ts';
import { lastUse, listen, silentConnections } from '../http/server.ts';
import { originOf } from '../origin.ts';
import { within } from '../timing.ts';
import { type Gateway, openGateway } from './gateway.ts';

type Parts = Parameters<typeof openGateway>;

interface App extends Pick<Gateway, 'sold' | 'missing' | 'reload'> {
  readonly url: string;
  /** The operator's console; `token` where it was made for this start. Undefined: it is not served. */
  readonly console: { readonly url: string; readonly token: string | undefined } | undefined;
  /** Refuses new calls and lets those under way finish for a while. The same end for all who ask for it. */
  close(): Promise<void>;
  /** Where another process takes the new connections: answers all that comes over those there are, then closes. */
  retire(): Promise<void>;
}

/** How long the last answers may be on their way before their connections are closed. */
const LAST_ANSWERS_MS = 1_000;
/**
 * How long a connection that is idle is waited for. One that is used less often than that seldom meets its end with a
 * request on its way.
 */
const NEXT_REQUEST_MS = 100;
/** How long a connection that was just opened is waited for. */
const FIRST_WORD_MS = 500;
/** How long a connection is waited for that could be used once more. */
const LAST_USE_MS = 5_000;

/** Makes the gateway, and listens. Where it cannot, nothing of it is left open. */
export async function openApp(...parts: Parts): Promise<App> {
  const [config, , , log] = parts;
  const gateway = await openGateway(...parts);
  try {
    return await serveGateway(gateway, config, log);
  } catch (error) {
    await gateway.close();
    throw error;
  }
}

/** Listens. `operated` is what the operator's port shows and does. */
export async function serveGateway(
  gateway: Gateway,
  { host, port: wanted, admin, drainMs }: Parts[0],
  log: Parts[3],
  operated: Operated = gateway,
): Promise<App> {
  const { listener, idle } = gateway;
  const token = admin?.token ?? randomBytes(32).toString('base64url');
  // The operator's port first: nothing is sold by a gateway that ends because that one is taken.
  const adminServer = admin && (await serveAdmin({ ...operated, log }, { ...admin, token }));
  const server = await listen(listener, host, wanted).catch((error: unknown) => {
    adminServer?.close();
    throw error;
  });
  const silent = silentConnections(server);
  const closed = new Promise<void>((resolve) => server.once('close', () => resolve()));
  const { port } = server.address() as AddressInfo;
  let closing: Promise<void> | undefined;

  async function end(): Promise<void> {
    const stopped = gateway.close(closed);
    // While calls are under way, new ones are told that the gateway is shutting down.
    await within(drainMs, idle());
    // A balancer may be sending its next request over a connection that it has: it is told as well, and not cut off.
    lastUse(server);
    await within(NEXT_REQUEST_MS, closed);
    server.close();
    server.closeIdleConnections();
    // Where nothing was asked yet, the first request may be on its way: it is told, rather than lost.
    await within(FIRST_WORD_MS, closed);
    silent.close();
    await stopped;
    server.closeIdleConnections();
    await within(LAST_ANSWERS_MS, closed);
    server.closeAllConnections();
    adminServer?.close().closeAllConnections();
  }
  const close = (): Promise<void> => {
    closing ??= end();
    return closing;
  };
  return {
    url: originOf(host, port),
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
    close,
    async retire() {
      lastUse(server);
      await within(LAST_USE_MS, closed);
      // However long they take: they have deadlines of their own, and nobody waits for this process.
      await idle();
      await close();
    },
  };
}

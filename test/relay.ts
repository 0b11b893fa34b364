/** What stands between the gateway and the others, so that a test decides when an answer arrives. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Hold {
  /** Resolves once something is held. */
  readonly reached: Promise<void>;
  release(): void;
}

/** A place that work passes, and where a test stops it for a while. */
export interface Gate {
  /** Whatever passes next waits until it is released. */
  holdNext(): Hold;
  pass(): Promise<void>;
  /** Lets everything go, so that nothing hangs when a test has failed. */
  open(): void;
}

export function openGate(): Gate {
  const waiting: { reach(): void; readonly released: Promise<void> }[] = [];
  const holds = new Set<Hold>();
  return {
    holdNext() {
      let reach = () => {};
      let release = () => {};
      const reached = new Promise<void>((resolve) => {
        reach = resolve;
      });
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      waiting.push({ reach, released });
      const hold = { reached, release };
      holds.add(hold);
      return hold;
    },
    async pass() {
      const next = waiting.shift();
      next?.reach();
      await next?.released;
    },
    open: () => {
      for (const { release } of holds) release();
    },
  };
}

export interface Relay {
  readonly url: string;
  /** Answers to POSTs pass here, after the server behind has answered. */
  readonly gate: Gate;
  /** While true, every request is cut off. */
  isDown: boolean;
  stop(): Promise<void>;
}

/** A server in front of the one at `target` (an origin), which it stands for in the answers, too. */
export async function relayTo(target: string): Promise<Relay> {
  const gate = openGate();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    if (relay.isDown) {
      response.destroy();
      return;
    }
    const { method = 'GET', url = '/' } = request;
    const { 'content-type': type = 'application/json', authorization, prefer } = request.headers;
    const headers = { 'content-type': type, ...(authorization && { authorization }), ...(prefer && { prefer }) };
    const body = method === 'GET' ? null : Buffer.concat(chunks);
    const asked = fetch(target + url, { method, headers: headers as Record<string, string>, body });
    const answer = await asked.catch(() => undefined);
    const found = await answer?.arrayBuffer().then(Buffer.from, () => undefined);
    // Whoever is behind has gone.
    if (!answer || !found) {
      response.destroy();
      return;
    }
    if (method === 'POST') await gate.pass();
    const kind = answer.headers.get('content-type') ?? 'application/json';
    const rewritten = kind.includes('json') ? found.toString().replaceAll(target, relay.url) : found;
    response.writeHead(answer.status, { 'content-type': kind }).end(rewritten);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const relay: Relay = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    gate,
    isDown: false,
    async stop() {
      gate.open();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
  return relay;
}

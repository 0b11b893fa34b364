/** The system looks two names up at a time: one whose servers are silent takes no more than one of these places. */
import dns from 'node:dns';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { createRpc } from '../../src/payment/chains/rpc.ts';
import { remoteFacilitator } from '../../src/payment/facilitators/remote.ts';
import { openUpstreamHttp } from '../../src/upstream/http/client.ts';

const PLACES = 2;

/** The system, as libuv asks it: whoever comes while all places are taken waits. Each name is at 127.0.0.1; of `silent.example` nothing is heard until it is given up. */
function openSystem() {
  const asked: string[] = [];
  const queue: (() => void)[] = [];
  const silent: (() => void)[] = [];
  let isSilent = true;
  let taken = 0;
  const next = () => {
    while (taken < PLACES && queue.length > 0) {
      taken += 1;
      queue.shift()?.();
    }
  };
  const lookup = (hostname: string, _options: object, done: (...told: unknown[]) => void) => {
    asked.push(hostname);
    const end = (...told: unknown[]) => {
      taken -= 1;
      done(...told);
      next();
    };
    queue.push(() => {
      if (hostname === 'silent.example' && isSilent) silent.push(() => end(new Error('no such name')));
      else end(null, [{ address: '127.0.0.1', family: 4 }]);
    });
    next();
  };
  return {
    lookup,
    asked,
    giveUp() {
      isSilent = false;
      while (silent.length > 0) silent.shift()?.();
    },
  };
}

t.test('many calls to a provider whose name is not found in time keep no other from being reached', async (t) => {
  const server = createServer((request, response) => {
    const answer = request.url === '/supported' ? { kinds: [] } : { jsonrpc: '2.0', id: 1, result: '0x1' };
    request.resume().on('end', () => response.end(JSON.stringify(answer)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const system = openSystem();
  t.intercept(dns, 'lookup', { value: system.lookup });

  const http = (host: string) => {
    const baseUrl = `http://${host}:${port}`;
    const upstream = { name: host, adapter: 'http', baseUrl, keys: {}, models: {} };
    const opened = openUpstreamHttp({ upstream: upstream as never, adapter: {}, baseUrl, secrets: {} });
    t.teardown(() => opened.close());
    return opened;
  };
  const get = (opened: ReturnType<typeof http>) =>
    opened.request({ method: 'GET', path: '/', signal: new AbortController().signal, idempotent: false });
  const facilitator = remoteFacilitator({ url: `http://facilitator.example:${port}` });
  t.teardown(async () => {
    await facilitator.close();
    server.close();
    server.closeAllConnections();
  });

  const silent = http('silent.example');
  const waiting = Array.from({ length: 8 }, () => get(silent).catch((error: Error) => error.message));
  t.same(await facilitator.supported(), []);
  t.equal(await createRpc(`http://node.example:${port}`)('eth_chainId', []), '0x1');
  t.equal((await get(http('other.example'))).status, 200);
  t.equal(system.asked.filter((name) => name === 'silent.example').length, 1, 'it is asked for once');
  system.giveUp();
  t.match(await Promise.all(waiting), Array(waiting.length).fill(/no such name/), 'all who wait learn of it');

  t.equal((await get(http('silent.example'))).status, 200, 'who comes later asks anew');
});

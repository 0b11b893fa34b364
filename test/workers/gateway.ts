/** A live gateway of several processes, with a local chain, a facilitator and a provider that stand in for real ones. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Test } from 'tap';
import type { Network } from '../../src/catalogue/types.ts';
import { localFacilitator } from '../../src/payment/facilitators/local.ts';
import { startChains } from '../../src/sandbox/chains/index.ts';
import { findRunning } from '../../src/start/running.ts';
import { type Gateway, type PaidCall, request, signProof } from '../clients.ts';
import { freePort } from '../free-port.ts';
import { loadSound } from '../load-catalogue.ts';
import { front, serve } from '../payment/facilitators/front.ts';
import { startPostgres } from '../postgres.ts';
import { shopFiles } from '../road/sold/shop-catalogue.ts';
import { groupOf, printed, startMain } from '../started.ts';

export const TOKEN = 'a-token-of-the-test';

/** Counts calls, and answers those for a city called Slow once it is let. */
async function startProvider(t: Test) {
  const held: ServerResponse[] = [];
  let calls = 0;
  const answer = (response: ServerResponse) =>
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ text: 'sunny', usage: { cost_usd: '0.01' } }));
  const server = createServer((asked, response) => {
    calls += 1;
    if (asked.url?.includes('Slow')) held.push(response);
    else answer(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => void server.close().closeAllConnections());
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: () => calls,
    held,
    letGo: () => held.splice(0).forEach(answer),
  };
}

/** Processes that are alive, each with its command. */
function childrenOf(pid: number): string[] {
  const lines = execFileSync('ps', ['-eo', 'ppid=,pid=,args='], { encoding: 'utf8' }).split('\n');
  return lines
    .map((line) => /^ *(\d+) +(\d+ .*)$/.exec(line))
    .flatMap((found) =>
      found && Number(found[1]) === pid && !found[2]?.includes('<defunct>') ? [found[2] ?? ''] : [],
    );
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Over a connection of its own: the next is another worker's. */
export async function ask({ url, init }: PaidCall, headers: Record<string, string> = {}): Promise<Answer> {
  const asked = httpRequest(url, {
    method: init.method ?? 'GET',
    agent: false,
    headers: { ...(init.headers as Record<string, string>), ...headers },
  });
  asked.end(init.body);
  const [response] = await once(asked, 'response');
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

/** Everything that a live gateway needs, and the gateway, ready. */
export async function startWorkers(t: Test, workers: number, more: Record<string, string> = {}) {
  const database = await startPostgres();
  t.teardown(database.stop);
  const provider = await startProvider(t);
  const directory = t.testdir({ catalogue: shopFiles(provider.url, ''), data: {} });
  const catalogue = join(directory, 'catalogue');
  const asLive = (network: Network): Network => ({ ...network, sandbox: network.live });
  const networks = [...loadSound(catalogue).networks.values()].filter(({ id }) => id === 'chain-c');
  const chains = await startChains({ networks: networks.map(asLive) });
  t.teardown(chains.stop);
  const facilitator = await serve(front(localFacilitator(chains.facilitatorOptions)));
  t.teardown(facilitator.stop);
  const { 'chain-c': access } = chains.evm;
  const payTo = chains.payTo['chain-c'] ?? '';
  const [port, adminPort] = [await freePort(), await freePort()];
  const environment = {
    TURNPIKE_MODE: 'live',
    TURNPIKE_WORKERS: String(workers),
    DATABASE_URL: database.url,
    HOST: '127.0.0.1',
    PORT: String(port),
    TURNPIKE_ADMIN_PORT: String(adminPort),
    TURNPIKE_ADMIN_TOKEN: TOKEN,
    TURNPIKE_PUBLIC_URL: `http://127.0.0.1:${port}`,
    TURNPIKE_PAY_TO_EVM: payTo,
    TURNPIKE_FACILITATOR_URL: facilitator.url,
    TURNPIKE_RPC_URL_CHAIN_C: access?.rpcUrl ?? '',
    TURNPIKE_MPP_SECRET: 'a secret of the test that is long enough',
    TURNPIKE_DATA: join(directory, 'data'),
    TURNPIKE_CATALOGUE: catalogue,
    TURNPIKE_DRAIN_SECONDS: '3',
    WEATHER_API_KEY: 'weather-key',
    LOG_LEVEL: 'info',
    ...more,
  };
  const run = startMain(environment);
  const leader = run.child.pid ?? 0;
  t.teardown(() => {
    if (groupOf(leader).length > 0) process.kill(-leader, 'SIGKILL');
  });
  await printed(run, /^ready /m);
  const url = `http://127.0.0.1:${port}`;
  const state = { mode: 'live', evm: { 'chain-c': { ...access, ...access?.asset, asset: access?.asset.address } } };
  const gateway = { url, state } as unknown as Gateway;
  const admin = `http://127.0.0.1:${adminPort}`;
  /** Whom the commands find: none of those who answer. */
  const primary = () => findRunning(environment.TURNPIKE_DATA)?.pid ?? 0;
  const pids = (): number[] =>
    childrenOf(primary())
      .filter((line) => /\bmain\.[jt]s\b/.test(line))
      .map((line) => Number(line.trim().split(/\s+/)[0]));
  return {
    run,
    leader,
    primary,
    environment,
    url,
    admin,
    provider,
    catalogue,
    pids,
    call: (city: string): PaidCall => request(gateway, '/weather/report', { city }),
    sign: (call: PaidCall) => signProof(gateway, 'chain-c', call),
    earned: () => chains.balance('chain-c', payTo),
    async metrics(): Promise<string> {
      return (await ask({ url: `${admin}/metrics`, init: {} })).body;
    },
    async ready(): Promise<{ code: number; status: string; workers: { wanted: number; ready: number } }> {
      const { status: code, body } = await ask({ url: `${admin}/readyz`, init: {} });
      return { code, ...JSON.parse(body) };
    },
  };
}

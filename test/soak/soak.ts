/** Traffic over everything that a sandbox gateway sells, every answer held to its schema, and the memory watched. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import { openSchemaCompiler } from '../../src/catalogue/schemas/ajv.ts';
import type { Input, Route } from '../../src/catalogue/types.ts';
import { answerSchema } from '../../src/discovery/schemas.ts';
import { type PaidCall, payV2, request } from '../clients.ts';
import { type Gateway, startGateway } from '../gateway.ts';
import { openCatalogue } from '../upstream/served-routes.ts';
import { requestsFor } from './inputs.ts';
import { openSoakWallet, type Wallet } from './wallet.ts';

export interface Memory {
  readonly heapMegabytes: number;
  readonly residentMegabytes: number;
}

export interface Group {
  readonly name: string;
  /** Answers by status. */
  readonly statuses: Map<number, number>;
  readonly milliseconds: number[];
}

interface Report {
  readonly calls: number;
  readonly routes: number;
  /** Routes that were called at least once. */
  readonly visited: number;
  readonly seconds: number;
  readonly groups: readonly Group[];
  /** What went wrong, the same fault once: text -> how often. */
  readonly faults: ReadonlyMap<string, number>;
  readonly memory: { readonly start: Memory; readonly middle: Memory; readonly end: Memory };
}

interface SoakOptions {
  readonly seconds: number;
  /** Calls at the same time. Default: 8. */
  readonly callers?: number;
  /** Visit every route once before the memory is measured and the time runs. */
  readonly warmUp?: boolean;
  readonly seed?: number;
  /** Only routes whose path contains this. */
  readonly only?: string;
}

const NETWORKS = ['chain-a', 'chain-c', 'chain-d', 'chain-e', 'chain-f'];
const REQUESTS_A_ROUTE = 20;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function memoryNow(): Memory {
  collectGarbage();
  const { heapUsed, rss } = process.memoryUsage();
  return { heapMegabytes: heapUsed / 2 ** 20, residentMegabytes: rss / 2 ** 20 };
}

interface Target {
  readonly route: Route;
  readonly requests: readonly Input[];
  readonly validate: ValidateFunction;
}

/** A market that the venue has open, as an agent finds it. */
async function openMarket(gateway: Gateway): Promise<string> {
  const list = request(gateway, '/chain-c-main/ai/prediction-market/venue-a/market-list', { limit: 1 });
  const { markets } = (await (await payV2(gateway, 'chain-c', list)).json()) as { markets: { slug: string }[] };
  return markets[0]?.slug ?? '';
}

/** Stocks and tokens both have tickers. */
const knownAt = ({ path }: Route): Input => (path.includes('/token/') ? { ticker: 'BONK' } : {});

function callOf(gateway: Gateway, route: Route, input: Input): PaidCall {
  if (route.methods[0] === 'POST' || route.rail === 'mpp') return request(gateway, route.path, input);
  const query = new URLSearchParams(
    Object.entries(input).map(([name, value]): [string, string] => [name, String(value)]),
  );
  return request(gateway, `${route.path}?${query}`);
}

class Tally {
  readonly groups = new Map<string, Group>();
  readonly faults = new Map<string, number>();
  readonly visited = new Set<string>();
  calls = 0;

  add({ endpoint, path }: Route, status: number, milliseconds: number): void {
    this.calls += 1;
    this.visited.add(path);
    const none: Group = { name: endpoint.group, statuses: new Map(), milliseconds: [] };
    const group = this.groups.get(endpoint.group) ?? none;
    this.groups.set(endpoint.group, group);
    group.statuses.set(status, (group.statuses.get(status) ?? 0) + 1);
    group.milliseconds.push(milliseconds);
  }

  fault(text: string): void {
    this.faults.set(text, (this.faults.get(text) ?? 0) + 1);
  }
}

/** What a request names may not exist, and a provider may not take all that the schema takes. Both cost nothing. */
const FREE_REFUSALS = ['not_found', 'content_refused', 'unusable_reference', 'invalid_request'];

/** What is wrong with a paid answer, if anything. */
function faultOf(target: Target, status: number, body: string): string | undefined {
  const answer = JSON.parse(body);
  if (status === 200) {
    const { validate } = target;
    return validate(answer) ? undefined : `the answer does not fit its schema: ${JSON.stringify(validate.errors?.[0])}`;
  }
  const { code } = answer.error ?? {};
  if (status === 400 && FREE_REFUSALS.includes(code)) return undefined;
  // The same where so much was under way that the payment settled first: a refund is due.
  if (code === 'result_owed' && FREE_REFUSALS.some((refusal) => body.includes(`refused for good (${refusal}`))) {
    return undefined;
  }
  return `answers ${status} ${body.replace(/"requestId":"[^"]*"/, '').slice(0, 200)}`;
}

async function visit(gateway: Gateway, wallet: Wallet, target: Target, input: Input, tally: Tally): Promise<void> {
  const { route } = target;
  const call = callOf(gateway, route, input);
  const unpaid = await fetch(call.url, call.init);
  if (unpaid.status !== 402) {
    tally.fault(`${route.path} answers ${unpaid.status} without a payment`);
    await unpaid.arrayBuffer();
    return;
  }
  const proof = await wallet.sign(unpaid);
  if (!unpaid.bodyUsed) await unpaid.arrayBuffer();
  const begin = performance.now();
  const headers = { ...(call.init.headers as Record<string, string>), ...proof };
  const answer = await fetch(call.url, { ...call.init, headers });
  const body = await answer.text();
  tally.add(route, answer.status, performance.now() - begin);
  const fault = faultOf(target, answer.status, body);
  if (fault) tally.fault(`${route.path} ${fault} for ${JSON.stringify(input).slice(0, 300)}`);
}

export async function soak({ seconds, callers = 8, warmUp = true, seed = 1, only = '' }: SoakOptions): Promise<Report> {
  const gateway = await startGateway({ networks: NETWORKS });
  try {
    const ajv = openSchemaCompiler({ strict: false, useDefaults: false });
    const market_id = await openMarket(gateway);
    const routes = openCatalogue().routes.filter(({ path }) => path.includes(only));
    const targets = routes.map(
      (route): Target => ({
        route,
        requests: requestsFor(route.request, REQUESTS_A_ROUTE, seed, { market_id, ...knownAt(route) }),
        validate: ajv.compile(answerSchema(route)),
      }),
    );
    const wallet = await openSoakWallet(gateway);
    const tally = new Tally();
    let next = 0;
    const nextVisit = async () => {
      // A step that shares no factor with the number of routes mixes them, and still visits each in turn.
      const target = targets[(next * 61) % targets.length] as Target;
      const input = target.requests[Math.floor(next / targets.length) % target.requests.length] ?? {};
      next += 1;
      await visit(gateway, wallet, target, input, tally);
    };
    const until = async (done: () => boolean) => {
      const caller = async () => {
        do await nextVisit();
        while (!done());
      };
      await Promise.all(Array.from({ length: callers }, caller));
    };

    if (warmUp) await until(() => next >= targets.length);
    const begin = performance.now();
    const elapsed = () => (performance.now() - begin) / 1000;
    const counted = tally.calls;
    const start = memoryNow();
    await until(() => elapsed() >= seconds / 2);
    const middle = memoryNow();
    await until(() => elapsed() >= seconds);
    const end = memoryNow();
    return {
      calls: tally.calls - counted,
      routes: targets.length,
      visited: tally.visited.size,
      seconds: elapsed(),
      groups: [...tally.groups.values()].sort((left, right) => left.name.localeCompare(right.name)),
      faults: tally.faults,
      memory: { start, middle, end },
    };
  } finally {
    await gateway.stop();
  }
}

/**
 * Honest callers and attackers at a gateway in its sandbox: calls arrive whether or not earlier ones have ended, nine of
 * ten are honest, and all attacks begin together, each time with new wallets.
 */
import '../payment/facilitators/own-fetch.ts';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { loadCatalogue } from '../../src/catalogue/load.ts';
import { remoteFacilitator } from '../../src/payment/facilitators/remote.ts';
import type { Sandbox } from '../../src/sandbox/index.ts';
import { shipped } from '../../src/shipped.ts';
import { type Gateway, startGateway } from '../gateway.ts';
import { front, serve } from '../payment/facilitators/front.ts';
import { type Attack, openScene } from './attack.ts';
import { attacks as allAttacks } from './attacks/index.ts';
import { type Files, openFiles } from './files.ts';
import { openHonest } from './honest.ts';
import { Account } from './ledger.ts';
import { openProviders, type Providers } from './providers.ts';
import { feePayerOf, lamportsOf, type Report, report } from './report.ts';
import { openBank } from './wallets.ts';

export interface CrowdOptions {
  readonly seconds: number;
  /** Calls a second of the honest, on the average. Default: 3. */
  readonly rate?: number;
  readonly seed?: number;
  /** Attacks to run; default: all of them. */
  readonly attacks?: readonly Attack[];
  /** Every attack once, with few calls each and at endpoints with little time, whatever the honest do. */
  readonly isShort?: { readonly directory: string };
}

const NETWORKS = ['chain-a', 'chain-c', 'chain-e'];
const LATE = 'eip155:988';
const LATE_BY_MS = 3_000;
const ATTACKERS_SHARE = 0.1;
const BETWEEN_ATTACKS_MS = 400;
const DEADLINE_MS = 50_000;
const SHORT_DEADLINE_MS = 5_000;
const SHORT_SCALE = 0.25;
/** Shorter runs have smaller attacks, so that nine of ten calls are honest all the same. */
const FULL_SECONDS = 720;

/** Mulberry32: small, and the same numbers for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The shipped catalogue, with little time for the endpoints that attacks wait for. */
function hastyCatalogue(directory: string): string {
  cpSync('catalogue', directory, { recursive: true });
  for (const name of ['vendor3-5.2', 'vendor3-5.6-luna']) {
    const file = join(directory, `endpoints/llm/${name}.yaml`);
    writeFileSync(file, readFileSync(file, 'utf8').replace('deadline: 50s', `deadline: ${SHORT_DEADLINE_MS / 1000}s`));
  }
  return directory;
}

/** On one network a facilitator over HTTP settles, which refuses some payers and carries it out later. */
async function lateFacilitator({ facilitators }: Pick<Sandbox, 'facilitators'>, refused: ReadonlySet<string>) {
  const [first] = facilitators;
  if (!first) throw new Error('the sandbox has no facilitator');
  const { facilitator } = first;
  const late = new Set<Promise<unknown>>();
  const server = await serve(
    front({
      ...facilitator,
      async settle(payload, requirements, signal) {
        const { from } = (payload as { payload: { authorization: { from: string } } }).payload.authorization;
        if (!refused.has(from.toLowerCase())) return facilitator.settle(payload, requirements, signal);
        late.add(delay(LATE_BY_MS).then(() => facilitator.settle(payload, requirements)));
        return { state: 'refused', reason: 'transaction_failed' };
      },
    }),
  );
  const others = {
    ...facilitator,
    supported: async () => (await facilitator.supported()).filter(({ network }) => network !== LATE),
  };
  const remote = remoteFacilitator({ url: server.url });
  return {
    facilitators: [
      { ...first, facilitator: others },
      { name: 'over HTTP', facilitator: remote },
    ],
    async stop() {
      await Promise.allSettled(late);
      await remote.close();
      await server.stop();
    },
  };
}

export async function crowd(options: CrowdOptions): Promise<Report> {
  const { seconds, rate = 3, seed = 1, isShort, attacks = allAttacks } = options;
  const settledLate = new Set<string>();
  const catalogue = isShort ? hastyCatalogue(isShort.directory) : 'catalogue';
  const stops: (() => Promise<void>)[] = [];
  let providers: Providers | undefined;
  let files: Files | undefined;
  const between = async (sandbox: Sandbox) => {
    const [doubles = ''] = sandbox.trustedOrigins;
    const opened = await openProviders(loadCatalogue(catalogue, shipped), doubles);
    const harmful = await openFiles();
    const late = await lateFacilitator(sandbox, settledLate);
    stops.push(opened.stop, harmful.stop, late.stop);
    providers = opened;
    files = harmful;
    const marked = ['chat', 'predictions'];
    return {
      baseUrlOf: (upstream: Parameters<NonNullable<Sandbox['baseUrlOf']>>[0]) => {
        const url = sandbox.baseUrlOf?.(upstream);
        return marked.includes(upstream.name) ? url?.replace(doubles, opened.url) : url;
      },
      trustedOrigins: [...sandbox.trustedOrigins, opened.url],
      readFrom: (url: URL) => harmful.find(url) ?? sandbox.readFrom?.(url) ?? url,
      facilitators: late.facilitators,
    };
  };
  const gateway: Gateway = await startGateway({ networks: NETWORKS, tempo: true, catalogue, between });
  stops.unshift(gateway.stop);
  try {
    if (!providers || !files) throw new Error('the providers were not started');
    const bank = openBank(gateway);
    const lamports = await lamportsOf(bank, await feePayerOf(gateway));
    const random = randomFrom(seed);
    const honest = await openHonest({ gateway, bank, providers, random, hangs: !isShort });
    const parts = {
      gateway,
      providers,
      files,
      bank,
      settledLate,
      deadlineMs: isShort ? SHORT_DEADLINE_MS : DEADLINE_MS,
      scale: isShort ? SHORT_SCALE : Math.min(1, seconds / FULL_SECONDS),
    };
    const accounts = new Map(attacks.map((attack) => [attack, new Account(attack.name)]));
    const running = new Set<Promise<unknown>>();
    const start = (work: Promise<unknown>) => {
      const watched = work.finally(() => running.delete(watched));
      running.add(watched);
    };
    const attackOnce = async (attack: Attack, account: Account) => {
      try {
        await attack.run(openScene(account, parts));
      } catch (error) {
        account.faults.push(`it could not be run: ${error instanceof Error ? error.message : error}`);
      }
    };
    const visit = async () => {
      try {
        await honest.visit();
      } catch (error) {
        honest.account.faults.push(`a call could not be made: ${error instanceof Error ? error.message : error}`);
      }
    };
    const attackAll = async () => {
      const runs: Promise<void>[] = [];
      for (const [attack, account] of accounts) {
        runs.push(attackOnce(attack, account));
        await delay(BETWEEN_ATTACKS_MS);
      }
      await Promise.all(runs);
    };
    const callsOfAttackers = () => [...accounts.values()].reduce((sum, { calls }) => sum + calls, 0);
    const begin = performance.now();
    const elapsed = () => performance.now() - begin;
    let attacking: Promise<void> | undefined;
    for (let next = 0; next < seconds * 1000; next += (-Math.log(1 - random()) / rate) * 1000) {
      await delay(Math.max(0, next - elapsed()));
      start(visit());
      const attackers = callsOfAttackers();
      const due = isShort ? attackers === 0 : attackers <= (attackers + honest.account.calls) * ATTACKERS_SHARE;
      if (due && !attacking) attacking = attackAll().finally(() => (attacking = undefined));
    }
    await attacking;
    while (running.size > 0) await Promise.all(running);
    return await report({
      gateway,
      bank,
      providers,
      honest,
      attackers: [...accounts.values()],
      seconds: elapsed() / 1000,
      lamports,
    });
  } finally {
    for (const stop of stops) await stop();
  }
}

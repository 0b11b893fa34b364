/**
 * Honest callers and attackers at one gateway: calls arrive whether or not earlier ones have ended, nine of ten are
 * honest, and all attacks begin together, each time with new wallets.
 */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { randomFrom } from '../random.ts';
import { openScene } from './attack.ts';
import { attacks } from './attacks/index.ts';
import { openCrowdGateway } from './gateway.ts';
import { openHonest } from './honest.ts';
import { Account } from './ledger.ts';
import { feePayerOf, lamportsOf, type Report, report } from './report.ts';
import { openBank } from './wallets.ts';

export interface CrowdOptions {
  readonly seconds: number;
  /** Calls a second of the honest, on the average. Default: 3. */
  readonly rate?: number;
  readonly seed?: number;
  /** Every attack once, with few calls each and at endpoints with little time, whatever the honest do. */
  readonly isShort?: {
    /** Empty, for a catalogue. */
    readonly directory: string;
  };
}

const ATTACKERS_SHARE = 0.1;
const BETWEEN_ATTACKS_MS = 400;
/** Of the endpoints that attacks wait for. */
const DEADLINE_MS = 50_000;
const SHORT_DEADLINE_MS = 15_000;
const SHORT_SCALE = 0.25;
/** Shorter runs have smaller attacks, so that nine of ten calls are honest all the same. */
const FULL_SECONDS = 720;

/** The shipped catalogue, with little time for the endpoints that attacks wait for. */
function hastyCatalogue(directory: string): string {
  cpSync('catalogue', directory, { recursive: true });
  for (const name of ['vendor3-5.2', 'vendor3-5.6-luna']) {
    const file = join(directory, `endpoints/llm/${name}.yaml`);
    writeFileSync(file, readFileSync(file, 'utf8').replace('deadline: 50s', `deadline: ${SHORT_DEADLINE_MS / 1000}s`));
  }
  return directory;
}

export async function crowd({ seconds, rate = 3, seed = 1, isShort }: CrowdOptions): Promise<Report> {
  const { stop, ...stage } = await openCrowdGateway(isShort ? hastyCatalogue(isShort.directory) : 'catalogue');
  try {
    const { gateway, providers } = stage;
    const bank = openBank(gateway);
    const lamports = await lamportsOf(bank, await feePayerOf(gateway));
    const random = randomFrom(seed);
    const honest = await openHonest({ gateway, bank, providers, random, hangs: !isShort });
    const parts = {
      ...stage,
      bank,
      deadlineMs: isShort ? SHORT_DEADLINE_MS : DEADLINE_MS,
      scale: isShort ? SHORT_SCALE : Math.min(1, seconds / FULL_SECONDS),
    };
    const accounts = new Map(attacks.map((attack) => [attack, new Account(attack.name)]));
    const attackers = [...accounts.values()];

    const noting = async (work: Promise<void>, { faults }: Account) => {
      await work.catch((error: unknown) => {
        faults.push(`it could not be done: ${error instanceof Error ? error.message : error}`);
      });
    };
    const attackAll = async () => {
      const runs: Promise<void>[] = [];
      for (const [attack, account] of accounts) {
        runs.push(noting(attack.run(openScene(account, parts)), account));
        await delay(BETWEEN_ATTACKS_MS);
      }
      await Promise.all(runs);
    };
    const visits: Promise<void>[] = [];
    const isDue = () => {
      const calls = attackers.reduce((sum, account) => sum + account.calls, 0);
      return isShort ? calls === 0 : calls <= (calls + visits.length) * ATTACKERS_SHARE;
    };

    let attacking: Promise<void> | undefined;
    const begin = performance.now();
    const elapsed = () => performance.now() - begin;
    for (let next = 0; next < seconds * 1000; next += (-Math.log(1 - random()) / rate) * 1000) {
      await delay(Math.max(0, next - elapsed()));
      visits.push(noting(honest.visit(), honest.account));
      if (attacking || !isDue()) continue;
      attacking = attackAll().finally(() => {
        attacking = undefined;
      });
    }
    await Promise.all([attacking, ...visits]);
    return await report({ gateway, bank, providers, honest, attackers, lamports, seconds: elapsed() / 1000 });
  } finally {
    await stop();
  }
}

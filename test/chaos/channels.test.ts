/**
 * Payers draw calls from their deposits, and others have their money held for each call, while the gateway is killed again and
 * again, its provider fails, its node loses and refuses what it sends, and answers get lost. A genuine chain, a genuine process,
 * the published clients. Afterwards the payers, the store and the chain have to say the same of every call, to the unit.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { createLog } from '../../src/log.ts';
import { ESCROW } from '../../src/on-chain/escrow-contracts.ts';
import { createRpc } from '../../src/payment/chains/rpc.ts';
import type { SandboxState } from '../../src/rails/paying-client.ts';
import { placeEscrow } from '../../src/sandbox/chains/escrow.ts';
import { startChains } from '../../src/sandbox/chains/index.ts';
import type { Channel } from '../../src/store/channels/channel-store.ts';
import { openStore } from '../../src/store/open.ts';
import { completion } from '../bench/subject.ts';
import { openChannel, toldOf } from '../channels.ts';
import type { PaidCall } from '../clients.ts';
import { freePort } from '../free-port.ts';
import { loadSound } from '../load-catalogue.ts';
import { startPostgres } from '../postgres.ts';
import { randomFrom } from '../random.ts';
import { picturesWith } from '../settling-first.ts';
import { printed, type Run, startProgram } from '../started.ts';
import { wordsFor } from '../words-for.ts';
import { openDice } from './dice.ts';
import { openFaultyNode } from './faulty-node.ts';
import { askAgain, openHoldingPayer } from './holding-payer.ts';

const SEED = Number(process.env.CHAOS_SEED ?? 1);
const KILLS = Number(process.env.CHAOS_KILLS ?? 5);
const PAYERS = 4;
const HOLDERS = 3;
const random = randomFrom(SEED);

const networks = [...loadSound().networks.values()]
  .filter(({ id }) => id === 'chain-c')
  .map((network) => ({ ...network, sandbox: network.live }));
const chains = await startChains({ networks });
t.teardown(chains.stop);
const { 'chain-c': access } = chains.evm;
if (!access) throw new Error('chain-c was not started');
await placeEscrow(createRpc(access.rpcUrl));
const node = await openFaultyNode(access.rpcUrl, openDice(SEED, 'node'));
t.teardown(node.stop);
const database = process.env.CHAOS_STORE === 'postgres' ? await startPostgres() : undefined;
t.teardown(() => database?.stop());

/** How often each question was asked. */
const asked = new Map<string, number>();
const provider = createServer(async (request, response) => {
  let text = '';
  for await (const chunk of request) text += chunk;
  const mark = /number [0-9]+ of [0-9]+/.exec(text)?.[0] ?? 'none';
  asked.set(mark, (asked.get(mark) ?? 0) + 1);
  await delay(random() * 150);
  const fails = random() < 0.15;
  response.writeHead(fails ? 500 : 200, { 'content-type': 'application/json' });
  response.end(fails ? '{"error":{"message":"down"}}' : completion);
});
await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
t.teardown(() => {
  provider.close();
  provider.closeAllConnections();
});

const data = join(t.testdir({}), 'data');
const port = await freePort();
const url = `http://127.0.0.1:${port}`;
const environment = {
  TURNPIKE_MODE: 'live',
  HOST: '127.0.0.1',
  PORT: String(port),
  LOG_LEVEL: 'error',
  TURNPIKE_PUBLIC_URL: url,
  TURNPIKE_CATALOGUE: picturesWith(
    t,
    '{ channels: true, hold: true, settleUpfront: { above: "0.01" } }\nlimits: { payer: { wastedPerHour: 100000, wastedPerDay: 100000, failedPerMinute: 100000 } }',
    'llm/vendor3-5.2',
    'llm/vendor3-5.6-terra',
  ),
  TURNPIKE_DATA: data,
  TURNPIKE_PAY_TO_CHAIN_C: chains.payTo['chain-c'] ?? '',
  TURNPIKE_SIGNER_EVM: chains.wallets.evm.facilitator.privateKey,
  TURNPIKE_RPC_URL_CHAIN_C: node.url,
  ...(database && { DATABASE_URL: database.url }),
  TURNPIKE_MPP_SECRET: 'a secret of the test that is long enough',
  // Here gas is worth next to nothing, so that every claim is worth its own.
  TURNPIKE_COIN_USD_CHAIN_C: '0.01',
  OPENROUTER_API_KEY: 'key',
  CHAOS_UPSTREAM_URL: `http://127.0.0.1:${(provider.address() as AddressInfo).port}`,
};

async function startGateway(): Promise<Run> {
  const run = startProgram(process.execPath, [...wordsFor('test/chaos/channel-gateway.ts')], environment);
  const text = await printed(run, /ready http/);
  if (!/ready http/.test(text)) throw new Error(`the gateway did not start: ${text}`);
  return run;
}

let running = await startGateway();
t.teardown(() => running.child.kill('SIGKILL'));

const { address: asset, symbol, decimals, name = '', version = '' } = access.asset;
const state = {
  mode: 'sandbox',
  evm: { 'chain-c': { ...access, asset, symbol, decimals, name, version } },
  payTo: chains.payTo,
} as unknown as SandboxState;

const gateway = { url, state } as Parameters<typeof openChannel>[0];
let isOver = false;

interface Ended {
  readonly id: string;
  readonly bought: number;
  /** What its answers said that each of them cost. */
  readonly due: bigint;
  /** What the last of them said that all had cost. */
  readonly charged: bigint;
}

const callOf = (path: string, body: object): PaidCall => ({
  url: url + path,
  init: { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
});

/** Buys one answer after the other, by turns at a fixed price and by use. */
async function holderOf(number: number) {
  const payer = await openHoldingPayer(state, access?.caip2 ?? '');
  for (let bought = 1; !isOver || bought === 1; bought += 1) {
    const prompt = `Question number ${bought} of ${1_000 + number}`;
    const isByUse = bought % 2 === 0;
    await payer.buy(
      isByUse ? callOf('/llm/vendor3-5.6-terra', { prompt }) : callOf('/llm/vendor3-5.2', { prompt, tier: 'small' }),
    );
  }
  return payer.held;
}

/** Asks one question after the other, each until it is answered: what is lost on the way is asked again. */
async function payerOf(number: number): Promise<Ended> {
  const payer = openChannel(gateway, {
    salt: `0x${(number + 1).toString(16).padStart(64, '0')}`,
  });
  let bought = 0;
  let due = 0n;
  let last: ReturnType<typeof toldOf> | undefined;
  while (!isOver || bought === 0) {
    const prompt = `Question number ${bought + 1} of ${number}`;
    const call = callOf('/llm/vendor3-5.2', { prompt, tier: 'small' });
    for (;;) {
      const answer = await payer.buy(call).catch(() => undefined);
      const text = await answer?.text().catch(() => undefined);
      if (answer?.status === 200 && text !== undefined) {
        last = toldOf(answer);
        break;
      }
      await delay(20 + random() * 80);
    }
    bought += 1;
    due += BigInt(last?.extra.chargedAmount ?? 0);
  }
  const { channelId = '', chargedCumulativeAmount = '' } = last?.extra.channelState ?? {};
  return { id: channelId, bought, due, charged: BigInt(chargedCumulativeAmount) };
}

t.test(`${KILLS} kills with seed ${SEED}`, { timeout: 230_000 + KILLS * 10_000 }, async (t) => {
  const balanceOf = (address: string) => chains.balance('chain-c', address);
  const earnedOf = () => balanceOf(chains.payTo['chain-c'] ?? '');
  const payer = chains.wallets.evm.payer.address;
  const before = await balanceOf(payer);
  const holding = Promise.all(Array.from({ length: HOLDERS }, (_, number) => holderOf(number)));
  const paying = Promise.all(Array.from({ length: PAYERS }, (_, number) => payerOf(number)));
  for (let kill = 0; kill < KILLS; kill += 1) {
    await delay(300 + random() * 1_500);
    running.child.kill('SIGKILL');
    await running.ended;
    running = await startGateway();
  }
  isOver = true;
  const ended = await paying;
  const holds = (await holding).flat();
  node.end();
  const store = await openStore({
    file: join(data, 'turnpike.sqlite'),
    now: Date.now,
    log: createLog('error'),
    ...(database && { databaseUrl: database.url }),
  });
  t.teardown(() => store.close());
  const list = () => store.list({ limit: 100_000, withoutAnswers: true });
  const open = ['claimed', 'fulfilled', 'unknown'];
  while ((await list()).some(({ state, owner }) => owner !== '' || open.includes(state))) await delay(100);

  const drawn = ended.reduce((sum, each) => sum + each.due, 0n);
  const receipts = (await list()).flatMap(({ receipt }) => receipt ?? []);
  const taken = receipts.filter(({ channel }) => !channel).reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  while ((await earnedOf()) < drawn + taken) await delay(100);
  const answers = await Promise.all(holds.map(askAgain));
  running.child.kill('SIGTERM');
  await running.ended;

  t.equal(await earnedOf(), drawn + taken, 'what was bought was claimed or taken, and nothing else');
  t.equal(await balanceOf(ESCROW), 0n, 'what was locked and not taken was given back');
  const deposits = await Promise.all(ended.map(({ id }) => openChannel(gateway).onChain(id)));
  const deposited = deposits.reduce((sum, { balance }) => sum + balance, 0n);
  t.equal(before - (await balanceOf(payer)), deposited + taken, 'payers paid deposits and what was taken');
  for (const [place, { answer }] of holds.entries()) {
    if (answer !== undefined) t.equal(answers[place], answer, 'the same payment has its answer again');
  }
  t.equal(
    answers.filter((answer) => answer !== undefined).length,
    receipts.filter(({ channel }) => !channel).length,
    'a hold that was taken has an answer, and no other',
  );
  for (const { bought, due: told, charged } of ended) t.equal(charged, told, `${bought} calls, each charged once`);
  const channels: Channel[] = await store.channels.list({ after: undefined, limit: 100 });
  t.same(
    channels.map(({ id, charged }) => [id, charged]).sort(),
    ended.map(({ id, charged }) => [id, charged.toString()]).sort(),
  );
  t.ok(channels.every(({ voucher, charged }) => voucher && BigInt(voucher.max) >= BigInt(charged)));
  const payments = await list();
  t.same(
    [...new Set(payments.map(({ state }) => state))].filter(
      (state) => !['settled', 'released', 'unsettled'].includes(state),
    ),
    [],
  );
  const settled = payments.filter(({ state }) => state === 'settled');
  t.equal(
    settled.length,
    ended.reduce((sum, { bought }) => sum + bought, answers.filter((answer) => answer !== undefined).length),
    'one settled payment for each answer',
  );
  t.ok(
    [...asked.values()].every((times) => times <= 12),
    `no question was asked more than ${Math.max(...asked.values())} times`,
  );
  t.comment(
    `${settled.length} answers, ${payments.length} payments, ${[...asked.values()].reduce((a, b) => a + b, 0)} calls of the provider, ${holds.length} holds`,
  );
  t.comment(`the node: ${[...node.given].map(([fault, times]) => `${times} ${fault}`).join(', ')}`);
});

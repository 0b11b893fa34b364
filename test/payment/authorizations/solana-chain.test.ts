import t from 'tap';
import { findSolanaSettlement, type SolanaQuery } from '../../../src/payment/authorizations/solana.ts';
import { createRpc } from '../../../src/payment/chains/rpc.ts';
import { readSolanaPayment } from '../../../src/payment/chains/solana-transaction.ts';
import { localFacilitator } from '../../../src/payment/facilitators/local.ts';
import { type Chains, startChains } from '../../../src/sandbox/chains/index.ts';
import { stoppedClock } from '../../stopped-clock.ts';
import { solanaDevnet } from '../facilitators/networks.ts';
import { type Payment, signV1, signV2 } from '../facilitators/payments.ts';

const MINUTE = 60_000;

const stoppedAt = stoppedClock()();
const clock = { ahead: 0 };
const now = () => stoppedAt + clock.ahead;

/** A Solana whose clock stands still until the test moves it. */
async function start(t: Tap): Promise<Chains> {
  clock.ahead = 0;
  const chains = await startChains({ networks: [solanaDevnet], now });
  t.teardown(chains.stop);
  return chains;
}

type Tap = { teardown(end: () => Promise<void>): void };

function queryOf(chains: Chains, { payload }: Payment, changes: Partial<SolanaQuery> = {}): SolanaQuery {
  const { source, messageHash, blockhash } = readSolanaPayment(String(payload.payload.transaction));
  return {
    rpcUrl: chains.solana?.rpcUrl ?? '',
    source,
    messageHash,
    blockhash,
    since: stoppedAt,
    now: stoppedAt,
    ...changes,
  };
}

for (const [version, sign] of [
  ['1', signV1],
  ['2', signV2],
] as const) {
  t.test(`a payment is unknown until it settles, and then found with its amount (version ${version})`, async (t) => {
    const chains = await start(t);
    const facilitator = localFacilitator(chains.facilitatorOptions);
    const payment = await sign(chains, solanaDevnet, { amount: '678' });
    const other = await sign(chains, solanaDevnet, { amount: '679' });
    const query = queryOf(chains, payment);
    t.match(await findSolanaSettlement(query), { state: 'unknown' });
    await facilitator.settle(other.payload, other.requirements);
    t.match(await findSolanaSettlement(query), { state: 'unknown' }, 'another payment of the payer is not this one');
    const settlement = await facilitator.settle(payment.payload, payment.requirements);
    const transaction = settlement.state === 'settled' ? settlement.transaction : 'none';
    t.same(await findSolanaSettlement(query), { state: 'settled', transaction, amount: 678n });
    clock.ahead = 10 * MINUTE;
    t.match(await findSolanaSettlement({ ...query, now: now() }), { state: 'settled' }, 'and later');
  });

  t.test(
    `a payment that never reached the chain is unsettled once its blockhash has expired (version ${version})`,
    async (t) => {
      const chains = await start(t);
      const facilitator = localFacilitator(chains.facilitatorOptions);
      const payment = await sign(chains, solanaDevnet);
      const query = queryOf(chains, payment);
      clock.ahead = 50_000;
      t.match(await findSolanaSettlement({ ...query, now: now() }), { state: 'unknown' });
      clock.ahead = 2 * MINUTE;
      t.match(await findSolanaSettlement(query), { state: 'unknown' }, 'not before a minute has passed for us too');
      const late = { ...query, now: now() };
      t.match(await findSolanaSettlement(late), { state: 'refused', reason: /expired/ });
      const settlement = await facilitator.settle(payment.payload, payment.requirements);
      t.match(settlement, { state: 'refused', reason: /expired/ }, 'and it cannot settle any more');
    },
  );
}

t.test('a transaction that failed on the chain is unsettled', async (t) => {
  const chains = await start(t);
  const facilitator = localFacilitator(chains.facilitatorOptions);
  const payment = await signV2(chains, solanaDevnet, { amount: '600000000000' });
  const rival = await signV2(chains, solanaDevnet, { amount: '600000000001' });
  t.match(await facilitator.verify(payment.payload, payment.requirements), { valid: true });
  // Both were affordable when they were checked; without another check before sending, the second runs and fails.
  await facilitator.settle(rival.payload, rival.requirements);
  const { createKeyPairSignerFromBytes, getBase64EncodedWireTransaction, getTransactionDecoder } = await import(
    '@solana/kit'
  );
  const { decodeBase58 } = await import('../../../src/on-chain/base58.ts');
  const feePayer = await createKeyPairSignerFromBytes(decodeBase58(chains.wallets.solana.facilitator.secretKey));
  const transaction = getTransactionDecoder().decode(
    Buffer.from(String(payment.payload.payload.transaction), 'base64'),
  );
  const [signatures] = await feePayer.signTransactions([transaction as never]);
  const wire = getBase64EncodedWireTransaction({
    ...transaction,
    signatures: { ...transaction.signatures, ...signatures },
  });
  const query = queryOf(chains, payment);
  await createRpc(query.rpcUrl)('sendTransaction', [wire, { encoding: 'base64', skipPreflight: true }]);
  t.match(await findSolanaSettlement(query), { state: 'refused', reason: /failed/ });
});

t.test('a chain out of reach is unknown, and its address is not told', async (t) => {
  const chains = await start(t);
  const query = queryOf(chains, await signV2(chains, solanaDevnet), { rpcUrl: 'http://127.0.0.1:9/secret-path' });
  const found = await findSolanaSettlement(query);
  t.match(found, { state: 'unknown' });
  t.notMatch(JSON.stringify(found), /secret-path/);
});

t.test('what is no transfer cannot be read', async (t) => {
  const chains = await start(t);
  const { payload } = await signV2(chains, solanaDevnet);
  const wire = Buffer.from(String(payload.payload.transaction), 'base64');
  const readable = Array.from({ length: wire.length + 2 }, (_, length) =>
    Buffer.concat([wire, Buffer.alloc(1)])
      .subarray(0, length)
      .toString('base64'),
  ).filter((text) => {
    try {
      return readSolanaPayment(text);
    } catch {
      return false;
    }
  });
  t.same(readable, [wire.toString('base64')], 'only the whole transaction, and nothing behind it');
});

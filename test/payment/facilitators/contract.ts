/** What every facilitator must do, whatever carries the payment to the chain. */
import type { Test } from 'tap';
import type { Network } from '../../../src/catalogue/types.ts';
import type { Facilitator } from '../../../src/payment/facilitators/facilitator.ts';
import type { Chains } from '../../../src/sandbox/chains/index.ts';
import { baseSepolia, polygon, solanaDevnet, stable } from './networks.ts';
import { type Payment, signV1, signV2, type Terms } from './payments.ts';

type Sign = (chains: Chains, network: Network, terms?: Terms) => Promise<Payment>;
type Json = Record<string, unknown>;

const WAYS: readonly (readonly [name: string, network: Network, sign: Sign])[] = [
  ['EIP-3009 on USDC, version 2', baseSepolia, signV2],
  ['EIP-3009 on USDC, version 1', baseSepolia, signV1],
  ['EIP-3009 on another network of version 1', polygon, signV1],
  ['EIP-3009 on a token that is not USDC, version 2', stable, signV2],
  ['Solana, version 2', solanaDevnet, signV2],
  ['Solana, version 1', solanaDevnet, signV1],
];

/** More than the payer has. */
const FORTUNE = '2000000000000';

const payerOf = (chains: Chains, { family }: Network): string =>
  family === 'solana' ? chains.wallets.solana.payer.address : chains.wallets.evm.payer.address;

export async function balances(chains: Chains, network: Network): Promise<{ payer: bigint; payTo: bigint }> {
  return {
    payer: await chains.balance(network.id, payerOf(chains, network)),
    payTo: await chains.balance(network.id, chains.payTo[network.id] ?? ''),
  };
}

const withRequirements = ({ payload, requirements }: Payment, changes: Json): Payment => ({
  payload,
  requirements: { ...requirements, ...changes },
});

/** Turns one bit of the payer's signature. */
function withBadSignature({ payload, requirements }: Payment): Payment {
  const { signature, transaction } = payload.payload;
  const turned: Json = {};
  if (typeof signature === 'string') {
    turned.signature = signature.slice(0, 20) + (signature[20] === 'a' ? 'b' : 'a') + signature.slice(21);
  }
  if (typeof transaction === 'string') {
    const wire = Buffer.from(transaction, 'base64');
    // One byte of count, then the fee payer's signature, which is still empty.
    const place = 1 + 64;
    wire.writeUInt8(wire.readUInt8(place) ^ 1, place);
    turned.transaction = wire.toString('base64');
  }
  return { payload: { ...payload, payload: { ...payload.payload, ...turned } }, requirements };
}

/** `refusal` is how it says that it does not settle: only one in this process can be certain that it will not. */
export function facilitatorContract(
  t: Test,
  chains: Chains,
  facilitator: Facilitator,
  refusal: 'refused' | 'unknown',
): void {
  const refuses = async (t: Test, network: Network, { payload, requirements }: Payment, reason: RegExp) => {
    const before = await balances(chains, network);
    t.match(await facilitator.verify(payload, requirements), { valid: false, reason });
    t.match(await facilitator.settle(payload, requirements), { state: refusal, reason });
    t.same(await balances(chains, network), before, 'no money moves');
  };

  t.test('says what it settles, and names the one fee payer on Solana', async (t) => {
    const kinds = await facilitator.supported();
    const find = (x402Version: number, network: string) =>
      kinds.find((kind) => kind.x402Version === x402Version && kind.network === network && kind.scheme === 'exact');
    t.ok(find(2, 'eip155:84532'));
    t.ok(find(1, 'base-sepolia'));
    t.ok(find(2, 'eip155:988'));
    t.notOk(find(1, 'stable'), 'nothing under a name that was not configured');
    const extra = { feePayer: chains.wallets.solana.facilitator.address };
    t.match(find(2, solanaDevnet.sandbox.caip2), { extra });
    t.match(find(1, 'solana-devnet'), { extra });
  });

  for (const [name, network, sign] of WAYS) {
    t.test(`${name}: a good payment settles for exactly its amount, and only once`, async (t) => {
      const before = await balances(chains, network);
      const { payload, requirements } = await sign(chains, network, { amount: '4321' });
      t.same(await facilitator.verify(payload, requirements), { valid: true, payer: payerOf(chains, network) });
      t.same(await balances(chains, network), before, 'verifying moves nothing');

      const settlement = await facilitator.settle(payload, requirements);
      t.match(settlement, { state: 'settled', payer: payerOf(chains, network), amount: 4321n, transaction: /.{60,}/ });
      const after = { payer: before.payer - 4321n, payTo: before.payTo + 4321n };
      t.same(await balances(chains, network), after);

      const again = await facilitator.settle(payload, requirements);
      t.match(again, { state: refusal, reason: /used before/ });
      t.same(await balances(chains, network), after, 'settling again moves nothing');
    });

    t.test(`${name}: a payment that was changed, or is for other terms, is refused`, async (t) => {
      const payment = await sign(chains, network);
      const dearer = { amount: '12346', maxAmountRequired: '12346' };
      await refuses(t, network, withBadSignature(payment), /signature/);
      await refuses(t, network, withRequirements(payment, dearer), /another amount/);
      await refuses(t, network, withRequirements(payment, { payTo: payerOf(chains, network) }), /another recipient/);
    });

    t.test(`${name}: settled by many at once, a payment moves money once`, async (t) => {
      const before = await balances(chains, network);
      const { payload, requirements } = await sign(chains, network, { amount: '10' });
      const settlements = await Promise.all(Array.from({ length: 5 }, () => facilitator.settle(payload, requirements)));
      t.equal(settlements.filter(({ state }) => state === 'settled').length, 1);
      t.same(await balances(chains, network), { payer: before.payer - 10n, payTo: before.payTo + 10n });
    });

    t.test(`${name}: many payments at once all settle, with bad ones between them`, async (t) => {
      const before = await balances(chains, network);
      // Of different amounts: two equal ones of version 1 on Solana within one slot are the same transaction.
      const amounts = [101, 102, 103, 104, 105, 106];
      const good = await Promise.all(amounts.map((amount) => sign(chains, network, { amount: String(amount) })));
      const settlements = await Promise.all(
        good
          .flatMap((payment) => [payment, withBadSignature(payment)])
          .map(({ payload, requirements }) => facilitator.settle(payload, requirements)),
      );
      t.equal(settlements.filter(({ state }) => state === 'settled').length, 6);
      t.equal(settlements.filter(({ state }) => state === refusal).length, 6);
      t.same(await balances(chains, network), { payer: before.payer - 621n, payTo: before.payTo + 621n });
    });
  }

  for (const network of [baseSepolia, stable, solanaDevnet]) {
    t.test(`a payer without the money is refused on ${network.id}`, async (t) => {
      const { payload, requirements } = await signV2(chains, network, { amount: FORTUNE });
      const before = await balances(chains, network);
      t.match(await facilitator.verify(payload, requirements), { valid: false, reason: /too few tokens/ });
      t.match(await facilitator.settle(payload, requirements), { state: refusal, reason: /too few tokens/ });
      t.same(await balances(chains, network), before);
    });
  }

  for (const [version, sign] of [
    ['1', signV1],
    ['2', signV2],
  ] as const) {
    t.test(`an authorization that has expired is refused, version ${version}`, async (t) => {
      await refuses(t, baseSepolia, await sign(chains, baseSepolia, { maxTimeoutSeconds: 1 }), /expired/);
    });
  }

  t.test('what is no payment is refused, in words that do not repeat it', async (t) => {
    const { payload, requirements } = await signV2(chains, baseSepolia);
    const secret = 'c'.repeat(100);
    for (const broken of [
      {},
      { authorization: {} },
      { transaction: secret },
      { authorization: 7, signature: secret },
    ]) {
      const verdict = await facilitator.verify({ ...payload, payload: broken }, requirements);
      t.match(verdict, { valid: false, reason: /./ });
      const settlement = await facilitator.settle({ ...payload, payload: broken }, requirements);
      t.match(settlement, { state: refusal, reason: /./ });
      t.notMatch(JSON.stringify([verdict, settlement]), secret);
    }
  });

  t.test('a network or scheme that it does not do is refused', async (t) => {
    const payment = await signV2(chains, baseSepolia);
    for (const changes of [{ network: 'eip155:1' }, { scheme: 'none' }]) {
      const { payload, requirements } = withRequirements(payment, changes);
      t.match(await facilitator.verify(payload, requirements), { valid: false, reason: /does not do/ });
      t.match(await facilitator.settle(payload, requirements), { state: refusal, reason: /does not do/ });
    }
  });
}

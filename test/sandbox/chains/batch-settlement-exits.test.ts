/** The channels of x402's `batch-settlement`: how a payer gets back what is not claimed, with its receiver or without. */
import t, { type Test } from 'tap';
import type { Address, Hex } from 'viem';
import { type ChannelConfig, DELAY_SECONDS, startScene } from './batch-settlement-scene.ts';
import { TOKENS } from './chain-scene.ts';

const FILL = 500_000n;

for (const asset of TOKENS) {
  const scene = await startScene(t, asset);
  const { calls, does, tells, refuses, balances, gains, filled, channel, pending, nonce, row, signRefund, idOf } =
    scene;
  const { payer, voucherSigner, receiver, authorizer, operator, stranger } = scene;
  const { claim, ask, withdraw, refund, refundSigned, deposit } = calls;
  const name = `${asset.name} ${asset.version}`;

  /** The payer asks for some of the channel; resolves with when it did. */
  const asked = async (t: Test, config: ChannelConfig, amount: bigint): Promise<number> => {
    await does(t, ask(config, amount));
    const [wanted, since] = (await pending(config)) as readonly [bigint, number];
    t.equal(wanted, amount);
    return since;
  };

  t.test(`${name}: the payer has back what is not claimed when the delay is over, and no second earlier`, async (t) => {
    const before = await balances();
    const config = await filled(t, FILL);
    await refuses(t, withdraw(config), /^WithdrawalNotPending$/);
    const asking = await does(t, ask(config, FILL));
    const [, since] = (await pending(config)) as readonly [bigint, number];
    tells(t, asking, [['WithdrawInitiated', { amount: FILL, finalizeAfter: since + DELAY_SECONDS }]]);
    t.same(await gains(before), { payer: -FILL, settlement: FILL }, 'to ask for it moves nothing');
    await refuses(t, withdraw(config), /^WithdrawDelayNotElapsed$/);
    await scene.at(since + DELAY_SECONDS - 1);
    await refuses(t, withdraw(config), /^WithdrawDelayNotElapsed$/);
    await scene.at(since + DELAY_SECONDS);
    tells(t, await does(t, withdraw(config)), [
      ['WithdrawFinalized', { channelId: idOf(config), sender: payer.address, amount: FILL }],
      ['ChannelClosed', { channelId: idOf(config), config }],
    ]);
    t.same(await gains(before), {});
    t.same(await channel(config), [0n, 0n]);
    t.same(await pending(config), [0n, 0]);
    await refuses(t, withdraw(config), /^WithdrawalNotPending$/);
    await refuses(t, claim([await row(config, 1n)]), /^ClaimExceedsBalance$/);

    tells(t, await does(t, deposit(await scene.signFilling(config, 1n))), [
      ['ChannelCreated', { channelId: idOf(config) }],
      ['Deposited'],
    ]);
  });

  t.test(`${name}: a channel that waits longer makes its payer wait longer`, async (t) => {
    const config = await filled(t, FILL, { withdrawDelay: 86_400 });
    const since = await asked(t, config, FILL);
    await scene.now(since + DELAY_SECONDS);
    await refuses(t, withdraw(config), /^WithdrawDelayNotElapsed$/);
    await scene.at(since + 86_400);
    await does(t, withdraw(config));
  });

  t.test(`${name}: what is claimed while the payer waits is not had back`, async (t) => {
    const [some, all] = [await filled(t, FILL), await filled(t, FILL)];
    const before = await balances();
    await asked(t, some, FILL - 50_000n);
    const since = await asked(t, all, FILL);
    await does(t, claim([await row(some, 200_000n), await row(all, FILL)]));
    await scene.at(since + DELAY_SECONDS);
    tells(t, await does(t, withdraw(some)), [['WithdrawFinalized', { amount: 300_000n }]]);
    t.same(await gains(before), { payer: 300_000n, settlement: -300_000n });
    t.same(await channel(some), [200_000n, 200_000n]);
    tells(t, await does(t, withdraw(all)), [['WithdrawFinalized', { amount: 0n }]]);
    t.same(await channel(all), [FILL, FILL]);
    t.same(await pending(all), [0n, 0]);
    await does(t, calls.settle());
    t.same(await gains(before), { payer: 300_000n, receiver: 700_000n, settlement: -1_000_000n });
    await refuses(t, claim([await row(some, 200_001n)]), /^ClaimExceedsBalance$/);
  });

  t.test(`${name}: no more is asked for than is not claimed, and once at a time`, async (t) => {
    const config = await filled(t, FILL);
    await filled(t, FILL);
    await does(t, claim([await row(config, 200_000n)]));
    await refuses(t, ask(config, 0n), /^NothingToWithdraw$/);
    await refuses(t, ask(config, 300_001n), /^WithdrawAmountExceedsAvailable$/);
    await refuses(t, ask(scene.newConfig(), 1n), /^WithdrawAmountExceedsAvailable$/);
    const since = await asked(t, config, 100_000n);
    await refuses(t, ask(config, 1n), /^WithdrawalAlreadyPending$/);
    await does(t, deposit(await scene.signFilling(config, FILL)));
    t.same(await pending(config), [100_000n, since], 'what is put in meanwhile changes nothing of it');
    const before = await balances();
    await scene.at(since + DELAY_SECONDS);
    await does(t, withdraw(config));
    t.same(await gains(before), { payer: 100_000n, settlement: -100_000n });
    t.same(await channel(config), [900_000n, 200_000n]);
    await asked(t, config, 700_000n);
  });

  t.test(`${name}: only the payer and who signs for it withdraw, and it goes to the payer`, async (t) => {
    const config = await filled(t, FILL);
    const before = await balances();
    for (const from of [receiver, authorizer, stranger, operator]) {
      await refuses(t, ask(config, 1n, from), /^InvalidChannel$/);
    }
    await does(t, ask(config, FILL, voucherSigner));
    const [, since] = (await pending(config)) as readonly [bigint, number];
    await scene.now(since + DELAY_SECONDS);
    for (const from of [receiver, authorizer, stranger, operator]) {
      await refuses(t, withdraw(config, from), /^NotAuthorizedToFinalizeWithdraw$/);
    }
    await does(t, withdraw(config, voucherSigner));
    t.same(await gains(before), { payer: FILL, settlement: -FILL });
  });

  t.test(`${name}: the receiver's side gives back what is not claimed, at once, to the payer`, async (t) => {
    const config = await filled(t, FILL);
    await filled(t, FILL);
    const before = await balances();
    await does(t, claim([await row(config, 200_000n)]));
    for (const from of [payer, voucherSigner, stranger, operator]) {
      await refuses(t, refund(config, 1n, from), /^NotAuthorizedToRefund$/);
    }
    await refuses(t, refund(config, 0n), /^ZeroRefund$/);
    tells(t, await does(t, refund(config, 100_000n, receiver)), [
      ['Refunded', { channelId: idOf(config), sender: receiver.address, amount: 100_000n }],
    ]);
    t.same(await gains(before), { payer: 100_000n, settlement: -100_000n });
    tells(t, await does(t, refund(config, FILL)), [['Refunded', { amount: 200_000n }]]);
    t.same(await gains(before), { payer: 300_000n, settlement: -300_000n });
    t.same(await channel(config), [200_000n, 200_000n]);
    t.equal((await does(t, refund(config, 1n))).logs.length, 0);
    t.equal(await nonce(config), 3n, 'one that finds nothing counts all the same');
    t.same(await gains(before), { payer: 300_000n, settlement: -300_000n });

    const unused = await filled(t, FILL);
    tells(t, await does(t, refund(unused, FILL)), [['Refunded'], ['ChannelClosed', { config: unused }]]);
  });

  t.test(`${name}: anybody sends a refund that the authorizer has signed, once and as it was signed`, async (t) => {
    const [config, other] = [await filled(t, FILL), await filled(t, FILL)];
    const signature = await signRefund(config, 100_000n, 0n);
    await refuses(t, refundSigned(config, 100_001n, 0n, signature), /^InvalidSignature$/);
    await refuses(t, refundSigned(config, 99_999n, 0n, signature), /^InvalidSignature$/);
    await refuses(t, refundSigned(other, 100_000n, 0n, signature), /^InvalidSignature$/);
    await refuses(t, refundSigned(config, 100_000n, 1n, signature), /^InvalidRefundNonce$/);
    await refuses(t, refundSigned(config, 100_000n, 0n, signature.slice(0, -2) as Hex), /^InvalidSignature$/);
    for (const signer of [payer, voucherSigner, receiver, stranger]) {
      const signed = await signRefund(config, 100_000n, 0n, signer);
      await refuses(t, refundSigned(config, 100_000n, 0n, signed), /^InvalidSignature$/);
    }
    const early = await signRefund(config, 100_000n, 1n);
    await refuses(t, refundSigned(config, 100_000n, 1n, early), /^InvalidRefundNonce$/);
    const nothing = await signRefund(config, 0n, 0n);
    await refuses(t, refundSigned(config, 0n, 0n, nothing), /^ZeroRefund$/);
    const before = await balances();
    await does(t, refundSigned(config, 100_000n, 0n, signature));
    t.same(await gains(before), { payer: 100_000n, settlement: -100_000n });
    await refuses(t, refundSigned(config, 100_000n, 0n, signature), /^InvalidRefundNonce$/);
    await does(t, refundSigned(config, 100_000n, 1n, early));
    t.same(await gains(before), { payer: 200_000n, settlement: -200_000n });

    const late = await signRefund(config, 100_000n, 2n);
    await does(t, refund(config, 1n));
    await refuses(t, refundSigned(config, 100_000n, 2n, late), /^InvalidRefundNonce$/);
    t.equal(await nonce(config), 3n);
    t.equal(await nonce(other), 0n);
  });

  t.test(`${name}: an authorizer that is a contract signs a refund by what it takes for its signature`, async (t) => {
    const wallet: Address = '0x00000000000000000000000000000000001d1e08';
    const config = await filled(t, FILL, { receiverAuthorizer: wallet });
    const before = await balances();
    const signature = await signRefund(config, 1n, 0n, scene.contractAt(wallet));
    await refuses(t, refundSigned(config, 2n, 0n, signature), /^InvalidSignature$/);
    await does(t, refundSigned(config, 1n, 0n, signature));
    t.same(await gains(before), { payer: 1n, settlement: -1n });
  });

  t.test(`${name}: a refund makes good as much of a pending withdrawal`, async (t) => {
    const config = await filled(t, FILL);
    const before = await balances();
    const since = await asked(t, config, 200_000n);
    await does(t, refund(config, 50_000n));
    t.same(await pending(config), [150_000n, since]);
    await does(t, refund(config, 150_000n));
    t.same(await pending(config), [0n, 0]);
    await scene.now(since + DELAY_SECONDS);
    await refuses(t, withdraw(config), /^WithdrawalNotPending$/);
    const again = await asked(t, config, 100_000n);
    await does(t, refund(config, 1n));
    await scene.at(again + DELAY_SECONDS);
    await does(t, withdraw(config));
    t.same(await gains(before), { payer: 300_000n, settlement: -300_000n });
    t.same(await channel(config), [200_000n, 0n]);
  });
}

t.end();

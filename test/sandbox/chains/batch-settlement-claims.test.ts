/** The channels of x402's `batch-settlement`: what a receiver can claim by vouchers, and when it has it. */
import t from 'tap';
import { type Address, concat, encodeFunctionData, type Hex, numberToHex, parseSignature, zeroAddress } from 'viem';
import { type Row, settlementAbi, startScene } from './batch-settlement-scene.ts';
import { TOKENS } from './chain-scene.ts';

const FILL = 500_000n;
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** The other signature by the same key over the same digest: whoever has one can make it. */
function mirrored(signature: Hex): Hex {
  const { r, s, v } = parseSignature(signature);
  return concat([r, numberToHex(CURVE_ORDER - BigInt(s), { size: 32 }), v === 27n ? '0x1c' : '0x1b']);
}

for (const asset of TOKENS) {
  const scene = await startScene(t, asset);
  const { calls, does, tells, refuses, balances, gains, filled, channel, received, row, signBatch, idOf } = scene;
  const { payer, voucherSigner, receiver, authorizer, operator, stranger, contractAt } = scene;
  const { claim, claimSigned, settle } = calls;
  const name = `${asset.name} ${asset.version}`;

  t.test(`${name}: what is claimed counts at once, and is sent when it is settled, by anybody, once`, async (t) => {
    const config = await filled(t, FILL);
    const [claimed, settled] = await received();
    const before = await balances();
    const claiming = await does(t, claim([await row(config, 200_000n, 150_000n)]));
    const counted = { claimAmount: 150_000n, newTotalClaimed: 150_000n };
    tells(t, claiming, [['Claimed', { channelId: idOf(config), sender: authorizer.address, ...counted }]]);
    t.same(await channel(config), [FILL, 150_000n]);
    t.same(await received(), [claimed + 150_000n, settled]);
    t.same(await gains(before), {}, 'no token moves');

    await does(t, { ...settle(), from: operator, args: [stranger.address, asset.address] });
    await does(t, { ...settle(), from: operator, args: [receiver.address, stranger.address] });
    t.same(await gains(before), {}, 'nobody else is sent it');
    const sent = await does(t, settle());
    t.same(await gains(before), { receiver: 150_000n, settlement: -150_000n });
    const paid = { receiver: receiver.address, token: asset.address, sender: stranger.address, amount: 150_000n };
    tells(t, sent, [['Settled', paid]]);
    const again = await does(t, settle());
    t.equal(again.logs.length, 0);
    t.same(await gains(before), { receiver: 150_000n, settlement: -150_000n });
    t.same(await received(), [claimed + 150_000n, settled + 150_000n]);
  });

  t.test(`${name}: what was claimed only grows, and no older voucher takes any of it back`, async (t) => {
    const config = await filled(t, FILL);
    const [claimed] = await received();
    for (const [ceiling, total, counts] of [
      [200_000n, 100_000n, 100_000n],
      [200_000n, 100_000n, 100_000n],
      [90_000n, 90_000n, 100_000n],
      [200_000n, 0n, 100_000n],
      [200_000n, 200_000n, 200_000n],
      [300_000n, 200_001n, 200_001n],
    ] as const) {
      await does(t, claim([await row(config, ceiling, total)]));
      t.same(await channel(config), [FILL, counts]);
      t.same((await received())[0], claimed + counts);
    }
    const twice = [await row(config, 300_000n, 250_000n), await row(config, 300_000n)];
    await does(t, claim(twice));
    t.same(await channel(config), [FILL, 300_000n]);
    t.same((await received())[0], claimed + 300_000n);
  });

  t.test(`${name}: no more is claimed than the payer signed for, nor than there is`, async (t) => {
    const config = await filled(t, FILL);
    await filled(t, FILL);
    await refuses(t, claim([await row(config, 100_000n, 100_001n)]), /^ClaimExceedsCeiling$/);
    const signed = await row(config, 100_000n);
    const raised = { ...signed, voucher: { ...signed.voucher, maxClaimableAmount: 100_001n }, totalClaimed: 100_001n };
    await refuses(t, claim([raised]), /^InvalidSignature$/);
    await refuses(t, claim([await row(config, FILL + 1n)]), /^ClaimExceedsBalance$/);
    await refuses(t, claim([await row(scene.newConfig(), 1n)]), /^ClaimExceedsBalance$/);
    await does(t, claim([await row(config, FILL + 1n, FILL)]));
    t.same(await channel(config), [FILL, FILL]);
  });

  t.test(`${name}: only the receiver and its authorizer claim`, async (t) => {
    const config = await filled(t, FILL);
    const rows = [await row(config, 100_000n)];
    for (const from of [payer, voucherSigner, stranger, operator]) {
      await refuses(t, claim(rows, from), /^NotAuthorizedToClaim$/);
    }
    await does(t, claim(rows, receiver));
    await does(t, claim([await row(config, 200_000n)], authorizer));
    t.same(await channel(config), [FILL, 200_000n]);
    const ofAnother = await filled(t, FILL, { receiver: stranger.address, receiverAuthorizer: stranger.address });
    const mixed = [await row(config, 300_000n), await row(ofAnother, 1n)];
    for (const from of [receiver, authorizer, stranger]) await refuses(t, claim(mixed, from), /^NotAuthorizedToClaim$/);
    t.same(await channel(config), [FILL, 200_000n]);
  });

  t.test(`${name}: a voucher counts by the signature of the one key that signs for the channel`, async (t) => {
    const [config, other] = [await filled(t, FILL), await filled(t, FILL)];
    const signed = await row(config, 100_000n);
    const wrong: Row[] = [
      await row(config, 100_000n, 100_000n, payer),
      await row(config, 100_000n, 100_000n, stranger),
      { ...signed, signature: (await row(other, 100_000n)).signature },
      { ...signed, signature: mirrored(signed.signature) },
      { ...signed, signature: signed.signature.slice(0, -2) as Hex },
      { ...signed, signature: `${signed.signature}00` },
      { ...signed, signature: '0x' },
    ];
    for (const each of wrong) await refuses(t, claim([each]), /^InvalidSignature$/);
    await does(t, claim([signed]));
  });

  t.test(`${name}: the key that signs for a channel does so though its address has code`, async (t) => {
    const config = await filled(t, FILL);
    const signed = await row(config, 100_000n);
    const pretended = await row(config, 100_000n, 100_000n, contractAt(voucherSigner.address));
    await refuses(t, claim([pretended]), /^InvalidSignature$/);
    await does(t, claim([signed]));
    await scene.rpc('anvil_setCode', [voucherSigner.address, '0x']);
  });

  t.test(`${name}: where no key is named, the payer signs by its own, or by its contract`, async (t) => {
    const config = await filled(t, FILL, { payerAuthorizer: zeroAddress });
    const signed = await row(config, 100_000n, 100_000n, payer);
    await refuses(t, claim([await row(config, 100_000n)]), /^InvalidSignature$/);
    await does(t, claim([signed]));
    t.same(await channel(config), [FILL, 100_000n]);

    const older = await row(config, 200_000n, 200_000n, payer);
    const byContract = await row(config, 300_000n, 200_000n, contractAt(payer.address));
    await refuses(t, claim([older]), /^InvalidSignature$/);
    await does(t, claim([byContract]));
    t.same(await channel(config), [FILL, 200_000n]);
    for (const answer of ['0x', '0x00', '0x60006000fd', '0x631626ba7e60e01b60005260046000f3']) {
      await scene.rpc('anvil_setCode', [payer.address, answer]);
      await refuses(t, claim([{ ...byContract, totalClaimed: 300_000n }]), /^InvalidSignature$/);
    }
    await scene.rpc('anvil_setCode', [payer.address, '0x']);
  });

  t.test(`${name}: one bad row leaves all the others out`, async (t) => {
    const [one, other] = [await filled(t, FILL), await filled(t, FILL)];
    const [good, fine] = [await row(one, 100_000n), await row(other, 50_000n)];
    const [claimed] = await received();
    const bad: readonly (readonly [Row, RegExp])[] = [
      [await row(other, 50_000n, 50_001n), /^ClaimExceedsCeiling$/],
      [await row(other, FILL + 1n), /^ClaimExceedsBalance$/],
      [{ ...fine, signature: good.signature }, /^InvalidSignature$/],
    ];
    for (const [each, reason] of bad) {
      for (const rows of [
        [good, each],
        [each, good],
      ]) {
        await refuses(t, claim(rows), reason);
        await refuses(t, claimSigned(rows, await signBatch(rows)), reason);
      }
    }
    for (const call of [claim([]), claimSigned([], await signBatch([]))]) await refuses(t, call, /^EmptyBatch$/);
    t.same(await channel(one), [FILL, 0n]);
    t.same((await received())[0], claimed);
    await does(t, claim([good, fine]));
    t.same((await received())[0], claimed + 150_000n);
  });

  t.test(`${name}: anybody sends what the authorizer has signed, as it was signed`, async (t) => {
    const [one, other] = [await filled(t, FILL), await filled(t, FILL)];
    const rows = [await row(one, 100_000n), await row(other, 50_000n, 20_000n)];
    const [first, second] = rows as [Row, Row];
    const signature = await signBatch(rows);
    const others: Row[][] = [
      [first],
      [second, first],
      [first, second, first],
      [first, { ...second, totalClaimed: 20_001n }],
      [first, await row(other, 50_001n, 20_000n)],
      [first, await row(await filled(t, FILL), 50_000n, 20_000n)],
    ];
    for (const changed of others) await refuses(t, claimSigned(changed, signature), /^InvalidSignature$/);
    for (const signer of [payer, voucherSigner, receiver, stranger]) {
      await refuses(t, claimSigned(rows, await signBatch(rows, signer)), /^InvalidSignature$/);
    }
    await refuses(t, claimSigned(rows, mirrored(signature)), /^InvalidSignature$/);
    await refuses(t, claimSigned(rows, '0x'), /^InvalidSignature$/);
    const nobodys = await row(scene.newConfig({ receiverAuthorizer: zeroAddress }), 0n);
    await refuses(t, claimSigned([nobodys], `0x${'00'.repeat(65)}`), /^InvalidSignature$/);
    const ofAnother = await filled(t, FILL, { receiverAuthorizer: stranger.address });
    const mixed = [...rows, await row(ofAnother, 1n)];
    await refuses(t, claimSigned(mixed, await signBatch(mixed)), /^NotReceiverAuthorizer$/);

    await does(t, settle());
    const before = await balances();
    await does(t, claimSigned(rows, signature));
    t.same(
      [await channel(one), await channel(other)],
      [
        [FILL, 100_000n],
        [FILL, 20_000n],
      ],
    );
    await does(t, claimSigned(rows, signature));
    t.same(await channel(one), [FILL, 100_000n], 'a second time it changes nothing');
    await does(t, settle());
    t.same(await gains(before), { receiver: 120_000n, settlement: -120_000n });
  });

  t.test(`${name}: an authorizer that is a contract signs by what it takes for its signature`, async (t) => {
    const wallet: Address = '0x00000000000000000000000000000000001d1e07';
    const config = await filled(t, FILL, { receiverAuthorizer: wallet });
    const rows = [await row(config, 100_000n)];
    const signature = await signBatch(rows, contractAt(wallet));
    const more = [await row(config, 100_001n)];
    await refuses(t, claimSigned(more, signature), /^InvalidSignature$/);
    await does(t, claimSigned(rows, signature));
    t.same(await channel(config), [FILL, 100_000n]);
  });

  t.test(`${name}: one settlement sends what was claimed of many channels`, async (t) => {
    await does(t, settle());
    const configs = [await filled(t, FILL), await filled(t, FILL), await filled(t, FILL)];
    const before = await balances();
    await does(t, claim(await Promise.all(configs.map((config) => row(config, 10_000n)))));
    await does(t, claim([await row(configs[0] as (typeof configs)[0], 15_000n)]));
    await does(t, settle());
    t.same(await gains(before), { receiver: 35_000n, settlement: -35_000n });
  });

  t.test(`${name}: several calls are made as one, by their sender`, async (t) => {
    const config = await filled(t, FILL);
    const together = (from: typeof payer, ...inner: readonly { functionName: string; args: readonly unknown[] }[]) => {
      const data = inner.map(({ functionName, args }) =>
        encodeFunctionData({ abi: settlementAbi, functionName, args }),
      );
      return { from, functionName: 'multicall', args: [data] };
    };
    await does(t, settle());
    const rows = [await row(config, 100_000n)];
    const [claiming, refunding] = [claim(rows), calls.refund(config, FILL)];
    await refuses(t, together(stranger, claiming), /^NotAuthorizedToClaim$/);
    await refuses(t, together(authorizer, claiming, calls.refund(config, 0n)), /^ZeroRefund$/);
    t.same(await channel(config), [FILL, 0n], 'what failed later undoes what went before');
    const start = await balances();
    await does(t, together(authorizer, claiming, refunding, settle()));
    t.same(await channel(config), [100_000n, 100_000n]);
    t.same(await gains(start), { payer: 400_000n, receiver: 100_000n, settlement: -FILL });
  });
}

t.end();

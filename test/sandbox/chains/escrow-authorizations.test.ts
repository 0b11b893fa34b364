/** What a payer signs for the escrow: an EIP-3009 authorization that the token lets its recipient alone use, once. */
import t from 'tap';
import { type Address, erc20Abi, type Hex, hashTypedData, parseAbi, parseSignature } from 'viem';
import { readArtifact } from '../../../src/sandbox/chains/contract.ts';
import { TRANSFER_TYPES } from '../../transfer-types.ts';
import { TOKENS } from './chain-scene.ts';
import { agreeingTo } from './contract-codes.ts';
import { COLLECTOR, startScene } from './escrow-scene.ts';

const PRICE = 250_000n;
const USED = /authorization is used or canceled/;
const NOT_THE_PAYEE = /caller must be the payee/;

const { abi: collectorAbi } = readArtifact(
  new URL('../../../src/sandbox/chains/Eip3009Collector.json', import.meta.url),
);
const AUTHORIZATION = 'address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce';
const PARTS = 'uint8 v, bytes32 r, bytes32 s';
const transferAbi = parseAbi([`function transferWithAuthorization(${AUTHORIZATION}, ${PARTS})`]);
const receiveAbi = parseAbi([`function receiveWithAuthorization(${AUTHORIZATION}, bytes signature)`]);
const receiveByPartsAbi = parseAbi([`function receiveWithAuthorization(${AUTHORIZATION}, ${PARTS})`]);
const RECEIVE_TYPES = { ReceiveWithAuthorization: TRANSFER_TYPES.TransferWithAuthorization };

const partsOf = (signature: Hex) => {
  const { v, r, s } = parseSignature(signature);
  return [Number(v), r, s];
};

for (const asset of TOKENS) {
  const scene = await startScene(t, asset);
  const { calls, does, refuses, sign, balance, payer, operator, stranger } = scene;
  const { authorize, capture, release } = calls;
  const name = `${asset.name} ${asset.version}`;
  const token = asset.address as Address;
  const chainId = Number(await scene.rpc('eth_chainId', []));
  const domain = { name: asset.name ?? '', version: asset.version ?? '', chainId, verifyingContract: token };
  /** A unit from the payer. */
  const unit = (to: Address, nonce: Hex) =>
    ({ from: payer.address, to, value: 1n, validAfter: 0n, validBefore: 2n ** 40n, nonce }) as const;

  /** The payer sends a unit with the nonce of a payment. */
  const sendAlong = async (nonce: Hex) => {
    const message = unit(stranger.address, nonce);
    const types = TRANSFER_TYPES;
    const signature = await payer.signTypedData({ domain, types, primaryType: 'TransferWithAuthorization', message });
    const args = [...Object.values(message), ...partsOf(signature)];
    return { from: stranger, to: token, abi: transferAbi, functionName: 'transferWithAuthorization', args };
  };

  t.test(`${name}: a nonce is used once, by a transfer or by the escrow`, async (t) => {
    const [spent, held] = [await sign(PRICE), await sign(PRICE)];
    await does(t, await sendAlong(spent.authorization.nonce));
    await refuses(t, authorize(spent), USED);
    await does(t, authorize(held));
    await refuses(t, await sendAlong(held.authorization.nonce), USED);
    await does(t, release(held));
    await refuses(t, await sendAlong(held.authorization.nonce), USED);
  });

  t.test(`${name}: only the collector uses the authorization, and only for the escrow`, async (t) => {
    const { info, authorization, signature } = await sign(PRICE);
    const { from, to, value, validAfter, validBefore, nonce } = authorization;
    const take = { from: stranger, to: token, functionName: 'receiveWithAuthorization' };
    const args = [from, to, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce];
    await refuses(t, { ...take, abi: receiveAbi, args: [...args, signature] }, NOT_THE_PAYEE);
    await refuses(t, { ...take, abi: receiveByPartsAbi, args: [...args, ...partsOf(signature)] }, NOT_THE_PAYEE);
    const collect = { from: operator, to: COLLECTOR, abi: collectorAbi, functionName: 'collectTokens' };
    const collecting = { ...collect, args: [info, operator.address, PRICE, signature] };
    await refuses(t, collecting, /^OnlyAuthCaptureEscrow$/);
  });

  t.test(`${name}: its recipient takes it with the signature whole or in parts`, async (t) => {
    const nonces = [1, 2].map((last): Hex => `0x${String(last).padStart(64, '0')}`);
    const take = { from: stranger, to: token, functionName: 'receiveWithAuthorization' };
    const before = await balance(stranger.address);
    for (const [at, abi] of [receiveAbi, receiveByPartsAbi].entries()) {
      const message = unit(stranger.address, nonces[at] as Hex);
      const types = RECEIVE_TYPES;
      const signature = await payer.signTypedData({ domain, types, primaryType: 'ReceiveWithAuthorization', message });
      const signed = abi === receiveAbi ? [signature] : partsOf(signature);
      const call = { ...take, abi, args: [...Object.values(message), ...signed] };
      await refuses(t, { ...call, from: operator }, NOT_THE_PAYEE);
      await does(t, call);
      await refuses(t, call, USED);
    }
    t.equal(await balance(stranger.address), before + 2n);
  });

  t.test(`${name}: a wallet that is a contract pays by what it takes for its signature`, async (t) => {
    const wallet: Address = '0x00000000000000000000000000000000001d1e01';
    await does(t, { from: payer, to: token, abi: erc20Abi, functionName: 'transfer', args: [wallet, PRICE] });
    const signer = {
      address: wallet,
      signTypedData: async (message: Parameters<typeof hashTypedData>[0]) => {
        await scene.rpc('anvil_setCode', [wallet, agreeingTo(hashTypedData(message))]);
        return '0x01' as const;
      },
    };
    const forgotten = await sign(PRICE, {}, signer);
    const payment = await sign(PRICE, {}, signer);
    await refuses(t, authorize(forgotten), /invalid signature/);
    await does(t, authorize(payment));
    t.equal(await balance(wallet), 0n);
    await does(t, capture(payment, 100_000n));
    await does(t, release(payment));
    t.equal(await balance(wallet), PRICE - 100_000n);
  });
}

t.end();

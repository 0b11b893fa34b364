/** Channels that strangers open in the name of somebody who has signed nothing. */
/** A channel that names another as its payer: the contract takes deposits of anybody's collector, and vouchers are signed by `payerAuthorizer`. */
import t from 'tap';
import { type Address, encodeFunctionData, erc20Abi, type Hex, parseAbi } from 'viem';
import { generatePrivateKey, privateKeyToAccount, sign } from 'viem/accounts';
import type { ChannelConfig } from '../../../src/on-chain/channel-config.ts';
import { BATCH_SETTLEMENT } from '../../../src/on-chain/escrow-contracts.ts';
import { createRpc } from '../../../src/payment/chains/rpc.ts';
import { channelId, voucherDigest } from '../../../src/payment/channels/channel.ts';
import { actAs } from '../../../src/sandbox/chains/contract.ts';
import { CHANNELS_ON } from '../../channels.ts';
import { type PaidCall, request, sendProof, signProof } from '../../clients.ts';
import { contractOf } from '../../contract.ts';
import { startGateway } from '../../gateway.ts';
import { fresh, picturesWith, termsOf } from '../../settling-first.ts';

const PRICE = 60_000n;
const gateway = await startGateway({ catalogue: picturesWith(t, '{ channels: true }'), networks: ['chain-c'] });
t.teardown(gateway.stop);
const access = gateway.state.evm['chain-c'];
if (!access) throw new Error('no chain-c');
const rpc = createRpc(access.rpcUrl);
const victim = privateKeyToAccount(access.privateKey as Hex);

const { deployedBytecode } = contractOf(
  'Purse',
  `
// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;
interface Token { function transfer(address to, uint256 amount) external returns (bool); }
contract Purse { function collect(address, address token, uint256 amount, bytes32, bytes calldata) external { Token(token).transfer(msg.sender, amount); } }
`,
);
const PURSE = `0x${'9a'.repeat(20)}` as const;
await rpc('anvil_setCode', [PURSE, deployedBytecode]);
const depositAbi = parseAbi([
  'struct ChannelConfig { address payer; address payerAuthorizer; address receiver; address receiverAuthorizer; address token; uint40 withdrawDelay; bytes32 salt; }',
  'function deposit(ChannelConfig config, uint128 amount, address collector, bytes collectorData)',
]);
const { v2 } = await termsOf(await fetch(fresh(gateway).url, fresh(gateway).init));
const offer = v2.accepts.find(({ scheme }) => scheme === 'batch-settlement') as unknown as {
  payTo: string;
  asset: string;
  amount: string;
  extra: { receiverAuthorizer: string };
};
const asset = offer.asset as Address;
let salts = 0;
/** The attacker's money in a channel whose payer is the victim. */
async function openInAnothersName(amount: bigint) {
  salts += 1;
  const privateKey = generatePrivateKey();
  const stranger = privateKeyToAccount(privateKey);
  const config: ChannelConfig = {
    payer: victim.address.toLowerCase(),
    payerAuthorizer: stranger.address.toLowerCase(),
    receiver: offer.payTo.toLowerCase(),
    receiverAuthorizer: offer.extra.receiverAuthorizer.toLowerCase(),
    token: asset.toLowerCase(),
    withdrawDelay: 86_400,
    salt: `0x${salts.toString(16).padStart(64, '0')}`,
  };
  // The stranger's own money; it comes from the sandbox's one wallet here.
  await actAs(rpc, victim.address, [
    { to: asset, data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [PURSE, amount] }) },
  ]);
  await rpc('anvil_setBalance', [stranger.address, '0xde0b6b3a7640000']);
  await actAs(rpc, stranger.address, [
    {
      to: BATCH_SETTLEMENT,
      data: encodeFunctionData({
        abi: depositAbi,
        functionName: 'deposit',
        args: [config as never, amount, PURSE, '0x'],
      }),
    },
  ]);
  const chainId = Number(CHANNELS_ON.split(':')[1]);
  const id = channelId(chainId, config);
  return async (max: bigint, type = 'voucher', others: object = {}): Promise<Record<string, string>> => {
    const signature = await sign({ hash: voucherDigest(chainId, id, max) as Hex, privateKey, to: 'hex' });
    const payload = {
      type,
      channelConfig: config,
      voucher: { channelId: id, maxClaimableAmount: max.toString(), signature },
      ...others,
    };
    return {
      'payment-signature': Buffer.from(JSON.stringify({ x402Version: 2, accepted: offer, payload })).toString('base64'),
    };
  };
}
const keyed = (call: PaidCall, key: string): PaidCall => ({
  ...call,
  init: { ...call.init, headers: { ...(call.init.headers as object), 'idempotency-key': key } },
});

t.test('nobody has the answer that another paid for under a key', async (t) => {
  const call = keyed(request(gateway, '/image/family-e-2', { prompt: 'what the victim asked' }), 'order-1');
  const bought = await sendProof(call, await signProof(gateway, 'chain-c', call));
  t.equal(bought.status, 200);
  const voucher = await openInAnothersName(PRICE);
  const { upstreamCalls } = await gateway.calls();
  const stolen = await sendProof(call, await voucher(PRICE));
  t.equal((await gateway.calls()).upstreamCalls, upstreamCalls + 1, 'a stranger is worked for, and charged');
  t.not(stolen.headers.get('idempotency-replayed'), 'true', 'and not handed what the victim bought');
  t.not(await stolen.text(), await bought.text());
});

t.test('nobody takes another’s keys before it', async (t) => {
  const voucher = await openInAnothersName(PRICE);
  const first = keyed(fresh(gateway), 'order-2');
  t.equal((await sendProof(first, await voucher(PRICE))).status, 200);
  const call = keyed(fresh(gateway), 'order-2');
  const bought = await sendProof(call, await signProof(gateway, 'chain-c', call));
  t.equal(bought.status, 200, await bought.text());
});

t.test('nobody keeps another from buying by refunds of next to nothing', async (t) => {
  const voucher = await openInAnothersName(100n);
  const url = `${gateway.url}/v1/channels`;
  for (let number = 0; number < 31; number += 1) {
    await fetch(url, { headers: await voucher(0n, 'refund', { amount: '1' }) });
  }
  const call = fresh(gateway);
  const bought = await sendProof(call, await signProof(gateway, 'chain-c', call));
  t.equal(bought.status, 200, await bought.text());
});

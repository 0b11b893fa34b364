import t from 'tap';
import { domainSeparator, type Hex } from 'viem';
import { isJsonObject } from '../../../src/json.ts';
import { createRpc } from '../../../src/payment/chains/rpc.ts';
import { type Chains, startChains } from '../../../src/sandbox/chains/index.ts';
import { baseSepolia, networks, polygon, solanaDevnet, stable } from '../../payment/facilitators/networks.ts';

const MILLION = 1_000_000_000_000n;

const chains = await startChains({ networks, tempo: true });
t.teardown(chains.stop);

t.test('the payer has a million of each asset, and nobody was paid yet', async (t) => {
  for (const { id, family } of networks) {
    t.equal(await chains.balance(id, chains.wallets[family].payer.address), MILLION, id);
    t.equal(await chains.balance(id, chains.payTo[id] ?? ''), 0n, id);
  }
  t.equal(await chains.balance('tempo', chains.wallets.evm.payer.address), MILLION);
  t.equal(await chains.balance('tempo', chains.payTo.tempo ?? ''), 0n);
  await t.rejects(chains.balance('chain-x', ''), { message: /chain-x/ });
});

t.test('every start has wallets of its own', async (t) => {
  const others = await startChains({ networks: [baseSepolia, solanaDevnet] });
  t.teardown(others.stop);
  const keys = ({ wallets, payTo }: Chains) => [
    wallets.evm.payer.privateKey,
    wallets.evm.facilitator.privateKey,
    wallets.solana.payer.secretKey,
    wallets.solana.facilitator.secretKey,
    payTo['chain-a'],
    payTo['chain-c'],
  ];
  const all = [...keys(chains), ...keys(others)];
  t.equal(new Set(all).size, all.length);
});

t.test('the EVM assets have the domain that clients sign for, on the chain they sign for', async (t) => {
  for (const { id, sandbox } of [baseSepolia, stable, polygon]) {
    const access = chains.evm[id];
    const { asset } = sandbox;
    const domain = { name: asset.name ?? '', version: asset.version ?? '', chainId: access?.chainId ?? 0 };
    const separator = domainSeparator({ domain: { ...domain, verifyingContract: asset.address as Hex } });
    const rpc = createRpc(access?.rpcUrl ?? '');
    t.equal(await rpc('eth_call', [{ to: asset.address, data: '0x3644e515' }, 'latest']), separator, id);
    t.equal(Number(await rpc('eth_chainId', [])), access?.chainId, id);
  }
});

t.test('an asset without its EIP-712 name and version is told, and nothing stays behind', async (t) => {
  const { name: _, ...asset } = stable.sandbox.asset;
  const broken = { ...stable, sandbox: { ...stable.sandbox, asset } };
  await t.rejects(startChains({ networks: [baseSepolia, broken] }), { message: /USDT0.*EIP-712/ });
});

t.test('the Solana answers as a node does where it knows no answer', async (t) => {
  const rpc = createRpc(chains.solana?.rpcUrl ?? '');
  await t.rejects(rpc('getNonsense', []), { code: -32601 });
  await t.rejects(rpc('sendTransaction', ['AAAA', { encoding: 'base64' }]), { name: 'ChainProblem' });
  t.equal(await rpc('getHealth', []), 'ok');
  t.equal(await rpc('getGenesisHash', []), 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG');
  t.match(await rpc('getAccountInfo', [chains.payTo['chain-c'] ? solanaDevnet.sandbox.asset.address : '']), {
    value: { owner: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' },
  });
  const missing = await rpc('getSignatureStatuses', [['1111']]);
  t.match(missing, { value: [null] });
});

t.test('a blockhash of the Solana is good for about a minute', async (t) => {
  let now = Date.now();
  const moved = await startChains({ networks: [solanaDevnet], now: () => now });
  t.teardown(moved.stop);
  const rpc = createRpc(moved.solana?.rpcUrl ?? '');
  const latest = await rpc('getLatestBlockhash', []);
  const { blockhash } = isJsonObject(latest) && isJsonObject(latest.value) ? latest.value : {};
  const valid = () => rpc('isBlockhashValid', [blockhash]);
  t.match(await valid(), { value: true });
  now += 55_000;
  t.match(await valid(), { value: true });
  now += 10_000;
  t.match(await valid(), { value: false });
});

t.end();

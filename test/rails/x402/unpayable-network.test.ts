/** A network that is configured and cannot be paid, for nobody settles there at the moment: its chain can be asked all the same. */
import t from 'tap';
import { createLog } from '../../../src/log.ts';
import { createPayableNetworks } from '../../../src/payment/networks.ts';
import { openX402Rail } from '../../../src/rails/x402/rail.ts';
import { word } from '../../payment/chains/evm-chain.ts';
import { openNode } from '../../payment/chains/node.ts';
import { noChannels } from '../../payment/channels/none.ts';
import { noExposure } from '../../payment/exposure/none.ts';
import { baseSepolia } from '../../payment/facilitators/networks.ts';

const [PAYER, PAYEE] = [`0x${'0a'.repeat(20)}`, `0x${'0b'.repeat(20)}`];
const TRANSACTION = word('5e771e');
const NOW = 1_700_000_000;
const USED = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5';
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const query = {
  x402Version: 2,
  network: baseSepolia.id,
  networkName: baseSepolia.live.caip2,
  kind: 'eip3009',
  asset: baseSepolia.live.asset.address,
  payer: PAYER,
  payTo: PAYEE,
  value: '5',
  nonce: word('4e'),
  validBefore: NOW + 60,
  since: NOW - 60,
  quoted: '0.000005',
};

t.test('what was settled there is found, goes back, and becomes as deep as anywhere', async (t) => {
  const log = (logIndex: number, topics: readonly string[], data: string) => ({
    address: query.asset,
    blockNumber: '0x5',
    transactionHash: TRANSACTION,
    logIndex: `0x${logIndex}`,
    topics,
    data,
  });
  const logs = [log(1, [USED, word(PAYER), query.nonce], '0x'), log(2, [TRANSFER, word(PAYER), word(PAYEE)], word(5))];
  const { url } = await openNode(t, (method) => {
    if (method === 'eth_blockNumber') return '0x7';
    if (method === 'eth_getBlockByNumber') return { number: '0x7', timestamp: `0x${NOW.toString(16)}` };
    if (method === 'eth_call') return word(1);
    if (method === 'eth_getLogs') return logs.slice(0, 1);
    return method === 'eth_getTransactionReceipt' ? { status: '0x1', blockNumber: '0x5', logs } : undefined;
  });
  const networks = createPayableNetworks(
    [{ network: baseSepolia, mode: 'live', payTo: PAYEE, rpcUrl: url }],
    [],
    createLog('silent'),
  );
  await networks.refresh();
  t.equal(networks.find(baseSepolia.id), undefined);
  const rail = openX402Rail({
    networks,
    exposure: noExposure,
    channels: noChannels,
    publicUrl: 'https://shop.example',
    refundSigners: { evm: word('f00d'), solana: undefined },
    challengeKey: '00'.repeat(32),
    now: () => NOW * 1_000,
  });
  const text = JSON.stringify(query);
  const settled = { state: 'settled', transaction: TRANSACTION, amount: 5n };
  t.same(await rail.recover(text), settled);
  t.same(await rail.refunds?.recover(text), settled);
  t.equal(await rail.confirmations(text, TRANSACTION), 3);
});

t.end();

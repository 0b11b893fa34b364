/** What a channel leaves in the store that holds nothing. */
/** What a stranger without money leaves in the database by asking for deposits that there are not. */
import t from 'tap';
import { openChannelRefunds } from '../../../src/rails/x402/channel-refunds.ts';
import { encodeHeader } from '../../../src/rails/x402/wire.ts';
import { openSqliteStore } from '../../../src/store/sqlite.ts';
import { ASSET, CAIP2, networksOn, openChain, payloadOf, RECEIVER } from '../../payment/channels/paying.ts';

t.test('a refund of a channel that holds nothing leaves no row', async (t) => {
  const now = () => 1_000_000_000_000;
  const store = openSqliteStore(':memory:', { now });
  t.teardown(() => store.close());
  const chain = openChain();
  const networks = await networksOn(async () => chain.operator);
  const { path, answer } = openChannelRefunds({
    networks,
    channels: store.channels,
    publicUrl: 'https://api.example',
    now,
  });
  const gate = { asks() {}, arrives() {}, returns() {}, refused() {}, returned() {} };
  const accepted = {
    scheme: 'batch-settlement',
    network: CAIP2,
    amount: '0',
    asset: ASSET.address,
    payTo: RECEIVER,
    extra: {},
  };
  for (let number = 1; number <= 20; number += 1) {
    const salt = `0x${number.toString(16).padStart(64, '0')}`;
    const payload = await payloadOf(0n, {
      type: 'refund',
      changes: { salt, payer: `0x${number.toString(16).padStart(40, 'c')}` },
    });
    const headers = { 'payment-signature': encodeHeader({ x402Version: 2, accepted, payload }) };
    const { status } = await answer(
      { transport: 'http', method: 'GET', path, query: '', headers, body: Buffer.alloc(0) },
      gate,
    );
    t.equal(status, 402);
  }
  t.equal((await store.channels.list({ after: undefined, limit: 100 })).length, 0);
});

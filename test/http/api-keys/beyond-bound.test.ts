/** A model whose host bounds what it shows alone: what it thinks besides is billed to us, and paid for by the key. */
import t from 'tap';
import { arrival, openWithProvider } from './slow-provider.ts';

const { ask, credits, ended } = await openWithProvider(t);

t.test('what a model thinks beyond its bound is held, and charged as it was counted', async (t) => {
  const call = ask({ model: 'vendor4-4.5', max_tokens: 100 });
  const asked = await arrival();
  t.match(asked.body, { max_tokens: 100 }, 'asked for is what the caller wants to see');
  // (100 + 16384) * 6.60 dollars a million, and the question.
  t.ok(Number((await credits()).held_usd) > 0.1087);
  const choices = [{ index: 0, message: { role: 'assistant', content: 'Droplets.' }, finish_reason: 'stop' }];
  const usage = { prompt_tokens: 100, completion_tokens: 1, total_tokens: 5101 };
  asked.response.end(JSON.stringify({ object: 'chat.completion', choices, usage }));
  t.equal((await call).status, 200);
  // 100 * 2.20 dollars a million, and 5001 * 6.60.
  t.match(await ended(), { price: '0.033227', note: '100 prompt and 5001 completion tokens' });
});

t.test('a model whose bound is for all that it writes has no more held than that', async (t) => {
  const call = ask({ max_tokens: 100 });
  const asked = await arrival();
  t.ok(Number((await credits()).held_usd) < 0.0008);
  asked.response.destroy();
  t.equal((await call).status, 500);
});

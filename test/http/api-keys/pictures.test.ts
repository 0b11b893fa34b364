/** What is held and charged for pictures, which cost their provider more or less of a prompt. */
import t, { type Test } from 'tap';
import { type ChatSource, soldModels } from '../../../src/http/api-keys/models.ts';
import { readCall } from '../../../src/http/api-keys/request.ts';
import { openFunded } from './funded.ts';

const picture = { url: 'https://example.com/12-megapixels.jpg' };
const messagesOf = (...pictures: object[]) => [
  { role: 'user', content: pictures.map((image_url) => ({ type: 'image_url', image_url })) },
];

/** A gateway before a provider that counts so many tokens for whatever it is asked. */
async function openBefore(t: Test, tokens: number) {
  const opened = await openFunded(t, (response) => {
    const usage = { prompt_tokens: tokens, completion_tokens: 1, total_tokens: tokens + 1 };
    const choices = [{ index: 0, message: { role: 'assistant', content: '1' }, finish_reason: 'stop' }];
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ choices, usage }));
  });
  return { ...opened, ask: (image_url: object) => opened.ask({ max_tokens: 1, messages: messagesOf(image_url) }) };
}

t.test('a large picture is charged at what its provider counted', async (t) => {
  const { ask, charged } = await openBefore(t, 14_364);
  t.equal((await ask({ ...picture, detail: 'high' })).status, 200);
  t.equal(await charged(), 31_610n, '14364 tokens at 2.20 dollars a million, and one at 8.80');
});

t.test('the largest picture that its provider takes is charged in full', async (t) => {
  const { ask, charged } = await openBefore(t, 36_008);
  t.equal((await ask(picture)).status, 200);
  t.equal(await charged(), 79_227n, '36008 tokens at 2.20 dollars a million, and one at 8.80');
});

t.test('what is no picture, or of another detail, is refused before anybody is asked', async (t) => {
  const { ask, charged, timesAsked } = await openBefore(t, 100_000);
  const pdf = `data:application/pdf;base64,${'A'.repeat(1000)}`;
  for (const [image_url, field] of [
    [{ ...picture, detail: 'original' }, 'detail'],
    [{ ...picture, detail: 1 }, 'detail'],
    [{ url: pdf }, 'url'],
    [{ url: ` ${pdf.replace('data', 'DATA')}` }, 'url'],
    [{ url: 'data:image/svg+xml;base64,PHN2Zz4=' }, 'url'],
    [{ url: 'data:image/png,AAAA' }, 'url'],
  ] as const) {
    const answer = await ask(image_url);
    const param = `messages[0].content[0].image_url.${field}`;
    t.match([answer.status, await answer.json()], [400, { error: { code: 'invalid_value', param } }]);
  }
  t.equal(timesAsked(), 0);
  t.equal(await charged(), 0n);
  for (const kind of ['png', 'jpeg', 'jpg', 'webp', 'gif']) {
    t.equal((await ask({ url: `data:image/${kind};base64,AAAA`, detail: 'auto' })).status, 200, kind);
  }
});

t.test('as much is held for a picture as any comes to in its detail, unless it has a price', (t) => {
  const tokensFor = (imageTokens: number | undefined, ...pictures: object[]) => {
    const price = { name: 'sage', input: 1n, output: 1n, contextWindow: 100_000, maxOutput: 10, defaultOutput: 10 };
    const sources = [{ model: {} } as ChatSource];
    const model = { name: 'sage', price, deadlineMs: 1000, sources, ...(imageTokens !== undefined && { imageTokens }) };
    return readCall({ model: 'sage', messages: messagesOf(...pictures) }, new Map([['sage', model]])).promptTokens;
  };
  const without = 8;
  // 30,000 patches, of 1.2 tokens each.
  t.equal(tokensFor(undefined, picture), without + 36_000);
  t.equal(tokensFor(undefined, { ...picture, detail: 'auto' }), without + 36_000);
  t.equal(tokensFor(undefined, { ...picture, detail: 'high' }), without + 16_000);
  t.equal(tokensFor(undefined, { ...picture, detail: 'low' }), without + 1600);
  t.equal(tokensFor(undefined, picture, { ...picture, detail: 'low' }), without + 37_600);
  t.equal(tokensFor(3000, picture, picture), without + 6000);
  t.end();
});

t.test('what an endpoint counts for a picture holds with an API key as well', (t) => {
  const models = { sage: { id: 'sage', cost: { input: '2', output: '8' }, maxOutput: 10, defaultOutput: 10 } };
  const upstreams = new Map([['main', { name: 'main', models }]]) as never;
  const routeWith = (more: object) =>
    ({
      kind: 'base',
      deadlineMs: 1000,
      priceOptions: { rule: 'usage-tokens', model: 'sage', markup: '0', ...more },
    }) as never;
  const binding = { upstream: 'main', adapter: 'openai-chat', models } as never;
  const soldFor = (more: object) => soldModels({ routes: [routeWith(more)], upstreams }, () => [binding]).get('sage');
  t.equal(soldFor({ imageTokens: 3000 })?.imageTokens, 3000);
  t.equal(soldFor({})?.imageTokens, undefined);
  t.end();
});

import t, { type Test } from 'tap';
import type { Adapter, ModelBinding } from '../../../src/upstream/adapter.ts';
import type { UpstreamRequest } from '../../../src/upstream/http/upstream-http.ts';
import { openaiChat } from '../../../src/upstream/providers/openai/chat-adapter.ts';
import { draftNews, type NewsDraft, shorten } from '../../../src/upstream/recipes/news-draft.ts';
import { openSetting, problemOf } from '../providers/contract.ts';
import { failingAt, openServed } from '../served-routes.ts';

interface News {
  x_username: string;
  trending_news: { title: string; tweet_draft: string; banner_url: string };
}

t.test('drafts news with a headline, a post and a banner that is kept here', async (t) => {
  const { ask, doubles } = await openServed(t);
  const { x_username, trending_news } = await ask<News>('/ai/x-news', {
    x_username: '@lighthouse',
    x_persona: 'keeper',
  });
  t.equal(x_username, 'lighthouse');
  t.ok(trending_news.title.split(/\s+/).length <= 4);
  t.ok(trending_news.tweet_draft.length <= 280);
  t.match(trending_news.banner_url, /^https:\/\/gateway[.]example\/media\//);
  t.equal(doubles.calls().social, 4, 'two accounts, each with its posts');
});

t.test('charges nothing for news when any step fails', async (t) => {
  const { ask, doubles } = await openServed(t);
  for (const upstream of ['social', 'chat', 'predictions']) {
    doubles.fault(upstream, '500', 1);
    t.match(await problemOf(ask('/ai/x-news', { x_username: 'lighthouse' })), { failure: 'failed', upstream });
  }
});

t.test('reads recent posts alone, the newest first', async (t) => {
  const { ask, read } = await watchingChat(t);
  await ask('/ai/x-news', { x_username: 'lighthouse' });
  const days = [...read().matchAll(/- \[(\d{4}-\d\d-\d\d)\]/g)].map(([, day]) => String(day));
  t.ok(days.length > 0 && days.length < 6, `${days.length} of six posts are recent`);
  t.same(days, days.toSorted().toReversed());
  const oldest = Date.now() - 31 * 24 * 60 * 60_000;
  t.ok(days.every((day) => Date.parse(day) >= oldest));
});

t.test('an account that has posted nothing of late is not charged', async (t) => {
  const { ask, doubles } = await openServed(t);
  t.match(await problemOf(ask('/ai/x-news', { x_username: 'dormant_keeper' })), {
    failure: 'not-found',
    publicMessage: /30 days/,
  });
  t.equal(doubles.calls().chat, 0);
  t.match(await ask('/ai/x-news', { x_username: 'lighthouse', x_persona: 'dormant_keeper' }), { success: true });
});

t.test('describes an account by its posts, with its own picture as the reference', async (t) => {
  const { ask, doubles } = await openServed(t);
  const answer = await ask<{ avatar: { reference_images: string[] } }>('/ai/x-persona', { x_username: 'lighthouse' });
  t.match(answer.avatar.reference_images, [/^https:\/\/images[.]example\/avatars\//]);
  t.same(await ask('/ai/x-persona', { x_username: '@lighthouse' }), answer, 'with or without @');
  doubles.fault('chat', '500', 1);
  t.match(await problemOf(ask('/ai/x-persona', { x_username: 'lighthouse' })), { failure: 'failed' });
});

/** With what the last chat call was told. */
async function watchingChat(t: Test) {
  let told = '';
  const answer = (_path: string, body: string) => {
    told = JSON.parse(body)
      .messages.map(({ content }: { content: string }) => content)
      .join('\n');
    return undefined;
  };
  const { ask } = await openServed(t, { standIn: { upstream: 'chat', answer } });
  return { ask, read: () => told };
}

const writer = {
  adapter: openaiChat as Adapter,
  upstream: { models: { writer: { id: 'maker/writer' } } },
  options: { result: 'usage' },
  model: 'writer',
};

/** The binding, answering these drafts one after the other. */
function writing(binding: ModelBinding, drafts: NewsDraft[]): { binding: ModelBinding; sent: UpstreamRequest[] } {
  const sent: UpstreamRequest[] = [];
  const request = async (asked: UpstreamRequest) => {
    sent.push(asked);
    const response = await binding.http.request(asked);
    const answer = response.json() as { choices: [{ message: { content: string } }] };
    answer.choices[0].message.content = JSON.stringify(drafts.shift());
    return { ...response, json: () => answer };
  };
  return { binding: { ...binding, http: { ...binding.http, request } }, sent };
}

const draft = (title: string, tweet_draft = 'A post.'): NewsDraft => ({
  title,
  tweet_draft,
  banner_prompt: 'A lighthouse',
});
const task = { task: 'Draft the news.', material: 'Posts' };

t.test('a headline that fits is taken as it is', async (t) => {
  const { binding, context } = await openSetting(t, writer);
  const { binding: scripted, sent } = writing(binding, [draft('  Lens   Shines Again  ')]);
  t.equal((await draftNews(scripted, task, context)).title, 'Lens Shines Again');
  t.equal(sent.length, 1);
});

t.test('a headline of more than four words goes back once', async (t) => {
  const { binding, context } = await openSetting(t, writer);
  const { binding: scripted, sent } = writing(binding, [
    draft('The old lens shines again'),
    draft('Lens shines again'),
  ]);
  t.equal((await draftNews(scripted, task, context)).title, 'Lens shines again');
  t.equal(sent.length, 2);
  t.match(JSON.stringify(sent[1]?.json), /title has 5 words/);
});

t.test('what is still too long the second time is cut', async (t) => {
  const { binding, context } = await openSetting(t, writer);
  const long = draft('The old lens shines again', 'word '.repeat(80));
  const { binding: scripted, sent } = writing(binding, [long, long]);
  const { title, tweet_draft } = await draftNews(scripted, task, context);
  t.equal(title, 'The old lens shines');
  t.ok(tweet_draft.length <= 280 && tweet_draft.endsWith('word…'), tweet_draft);
  t.equal(sent.length, 2);
});

t.test('shortens at a word, or inside one that is longer than half', async (t) => {
  t.equal(shorten('short', 10), 'short');
  t.equal(shorten('two words more', 10), 'two words…');
  t.equal(shorten('a'.repeat(20), 10), `${'a'.repeat(9)}…`);
});

t.test('an account whose posts cannot be read is not described', async (t) => {
  const { ask } = await openServed(t, { standIn: failingAt('social', /tweets/) });
  const problem = await problemOf(ask('/ai/x-persona', { x_username: 'lighthouse' }));
  t.equal(problem.failure, 'failed');
});

import t from 'tap';
import type { CreativeDirectionResult } from '../../../generated/schemas/creative-direction-result.ts';
import { problemOf } from '../providers/contract.ts';
import { openServed } from '../served-routes.ts';

const path = '/image/creative-director';
const request = { idea: "posters that make a harbour town's ferry look worth a detour" };
const image = 'https://photos.example.com/harbour.jpg';

/** What a search answers that found these pages. */
const response = (pages: readonly object[]) => {
  const annotations = pages.map((page) => ({ type: 'url_citation', ...page }));
  const content = [{ type: 'output_text', text: 'Notes on what was found.', annotations }];
  return {
    status: 200,
    json: { id: 'r', status: 'completed', output: [{ type: 'message', role: 'assistant', content }] },
  };
};

t.test('says what the idea is after and gives three directions', async (t) => {
  const { ask, doubles } = await openServed(t);
  const { intent, direction } = await ask<CreativeDirectionResult>(path, request);
  t.match(intent, { goal: /\w/, audience: /\w/, tone: /\w/, medium: /\w/ });
  t.equal(direction.length, 3);
  for (const { palette } of direction) t.match(palette[0], /^#[0-9A-Fa-f]{6}$/);
  t.match(doubles.calls(), { search: 1, chat: 1 });
});

t.test('names only pages that the search found, each once', async (t) => {
  const found = ['https://herald.example/story/1', 'https://gazette.example/story/2'];
  const pages = found.map((url) => ({ url, title: `The page ${url}` }));
  const { ask } = await openServed(t, { standIn: { upstream: 'search', answer: () => response(pages) } });
  const { research } = await ask<CreativeDirectionResult>(path, request);
  t.ok(research.length > 0);
  t.equal(new Set(research.map(({ url }) => url)).size, research.length);
  for (const { url, title } of research) {
    t.ok(found.includes(url), url);
    t.equal(title, `The page ${url}`);
  }
});

t.test('has no research where the search finds nothing', async (t) => {
  const { ask } = await openServed(t, { standIn: { upstream: 'search', answer: () => response([]) } });
  const { research, direction } = await ask<CreativeDirectionResult>(path, request);
  t.same(research, []);
  t.equal(direction.length, 3);
});

t.test('shows reference images to both models, each in its own words', async (t) => {
  for (const [upstream, part] of [
    ['search', `{"type":"input_image","image_url":"${image}"}`],
    ['chat', `{"type":"image_url","image_url":{"url":"${image}"}}`],
  ] as const) {
    const bodies: string[] = [];
    const standIn = { upstream, answer: (_path: string, body: string) => void bodies.push(body) };
    const { ask } = await openServed(t, { standIn });
    await ask(path, { ...request, reference_images: [image] });
    t.match(bodies[0], part);
  }
});

for (const upstream of ['search', 'chat']) {
  t.test(`fails when ${upstream} fails`, async (t) => {
    const { ask, doubles } = await openServed(t);
    doubles.fault(upstream, '500', 1);
    t.match(await problemOf(ask(path, request)), { failure: 'failed', upstream });
  });
}

t.test('is sold under the paths of other networks too', async (t) => {
  const { ask } = await openServed(t);
  for (const prefix of ['/chain-e', '/chain-f', '/mpp']) t.match(await ask(prefix + path, request), { intent: {} });
});

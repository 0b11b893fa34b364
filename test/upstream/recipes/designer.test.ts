import sharp from 'sharp';
import t from 'tap';
import type { ImageResult } from '../../../generated/schemas/image-result.ts';
import { problemOf } from '../providers/contract.ts';
import { openServed } from '../served-routes.ts';

const path = '/image/designer';
const request = { prompt: 'a lighthouse in fog', style: ['woodcut', 'two colours'], aspect_ratio: '3:2' };
const reference = 'https://photos.example.com/harbour.jpg';

t.test('draws the refined prompt, with every style keyword in it', async (t) => {
  const { ask, stored, doubles } = await openServed(t);
  const { image_url, image_description, metadata } = await ask<ImageResult>(path, request);
  t.not(image_description, request.prompt);
  for (const keyword of request.style) t.match(image_description, keyword);
  const { width, height } = await sharp(await stored(image_url)).metadata();
  t.match({ width, height }, { width: 1024, height: 683 });
  t.match(metadata, { aspect_ratio: '3:2', width: 1024, height: 683, parameters: { style: request.style } });
  t.match(doubles.calls(), { chat: 1, predictions: 1 });
});

t.test('does not repeat a style keyword that the model blended in', async (t) => {
  const refined_prompt = 'A lighthouse, a WOODCUT in fog.';
  const message = { role: 'assistant', content: JSON.stringify({ refined_prompt }) };
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const json = { id: 'c', choices: [{ index: 0, message, finish_reason: 'stop' }], usage };
  const { ask } = await openServed(t, { standIn: { upstream: 'chat', answer: () => ({ status: 200, json }) } });
  const { image_description } = await ask<ImageResult>(path, request);
  t.equal(image_description, `${refined_prompt} Style: two colours.`);
});

t.test('shows reference images to the model that writes and to the one that draws', async (t) => {
  const bodies: string[] = [];
  const standIn = { upstream: 'chat', answer: (_path: string, body: string) => void bodies.push(body) };
  const { ask } = await openServed(t, { standIn });
  const { metadata } = await ask<ImageResult>(path, { ...request, referenceImage: [reference] });
  t.same(metadata.reference_images, [reference]);
  t.match(bodies[0], `{"type":"image_url","image_url":{"url":"${reference}"}}`);
});

for (const upstream of ['chat', 'predictions']) {
  t.test(`fails when ${upstream} fails`, async (t) => {
    const { ask, doubles } = await openServed(t);
    doubles.fault(upstream, '500', 1);
    t.match(await problemOf(ask(path, request)), { failure: 'failed', upstream });
  });
}

t.test('draws nothing when the model refuses the prompt', async (t) => {
  const { ask, doubles } = await openServed(t);
  doubles.fault('chat', 'refuse', 1);
  t.match(await problemOf(ask(path, request)), { failure: 'content-refused' });
  t.equal(doubles.calls().predictions, 0);
});

import t from 'tap';
import { mapInput } from '../../src/upstream/input-mapping.ts';

t.test('sends what the request has under the provider’s names', async (t) => {
  const mapping = { prompt: 'prompt', image_input: 'referenceImage', seed: 'seed' };
  const input = { prompt: 'a boat', referenceImage: ['https://a.example/1.png'], unrelated: true };
  t.same(mapInput(mapping, input), { prompt: 'a boat', image_input: ['https://a.example/1.png'] });
});

t.test('sends no empty list', async (t) => {
  t.same(mapInput({ image_input: 'referenceImage' }, { referenceImage: [] }), {});
});

t.test('keeps zero and false, which mean something', async (t) => {
  t.same(mapInput({ strength: 'strength', audio: 'audio' }, { strength: 0, audio: false }), {
    strength: 0,
    audio: false,
  });
});

t.test('renames values, passes others, and drops those that the provider has no word for', async (t) => {
  const mapping = { aspect: { from: 'aspect_ratio', values: { square: '1:1', auto: null } } };
  t.same(mapInput(mapping, { aspect_ratio: 'square' }), { aspect: '1:1' });
  t.same(mapInput(mapping, { aspect_ratio: '16:9' }), { aspect: '16:9' });
  t.same(mapInput(mapping, { aspect_ratio: 'auto' }), {});
  t.same(mapInput(mapping, { aspect_ratio: 'constructor' }), { aspect: 'constructor' });
});

t.test('takes the first of a list where the provider takes one', async (t) => {
  const mapping = { image: { from: 'referenceImage', first: true } };
  t.same(mapInput(mapping, { referenceImage: ['one', 'two'] }), { image: 'one' });
  t.same(mapInput(mapping, { referenceImage: 'only' }), { image: 'only' });
  t.same(mapInput(mapping, { referenceImage: [] }), {});
});

t.test('renames each value of a list, and drops those that the provider has no word for', async (t) => {
  const values = { en: 'en-US', pt: 'pt-PT', any: null };
  const sent = (languages: unknown, more = {}) =>
    mapInput({ languages: { from: 'languages', values, ...more } }, { languages });
  t.same(sent(['en']), { languages: ['en-US'] }, 'one is a list as well');
  t.same(sent(['pt', 'any', 'fr', 'en']), { languages: ['pt-PT', 'fr', 'en-US'] });
  t.same(sent(['any']), {});
  t.same(sent(['pt', 'en'], { join: ',' }), { languages: 'pt-PT,en-US' });
  t.same(sent(['pt', 'en'], { first: true }), { languages: 'pt-PT' });
});

t.test('counts in another unit, each number of a list, without losing a digit or adding one', async (t) => {
  const scaled = (given: unknown, scale: number) => mapInput({ at: { from: 'at', scale } }, { at: given }).at;
  t.equal(scaled(0.07, 100), 7);
  t.equal(scaled(1.1, 1.1), 1.21);
  t.equal(scaled(1_796_000_123_456, 0.001), 1_796_000_123.456);
  t.equal(scaled(1_796_000_123_456, 1000), 1_796_000_123_456_000);
  t.same(scaled([1.5, 2], 60), [90, 120]);
});

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

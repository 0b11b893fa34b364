import t from 'tap';
import { parseDuration } from '../../src/catalogue/duration.ts';
import { choices, editDistance, nearest } from '../../src/catalogue/yaml/suggest.ts';

t.test('a letter too many, too few, wrong or swapped is one step', async (t) => {
  for (const wrong of ['amounts', 'amout', 'amoumt', 'amuont']) t.equal(editDistance(wrong, 'amount'), 1, wrong);
  t.equal(editDistance('', 'amount'), 6);
});

t.test('a near name is suggested, a far one is not', async (t) => {
  t.equal(nearest('amout', ['rule', 'amount']), 'amount');
  t.equal(nearest('Prompt', ['prompt']), 'prompt');
  t.equal(nearest('colour', ['rule', 'amount']), undefined);
});

t.test('what there is is always reported', async (t) => {
  t.equal(choices('amout', ['rule', 'amount']), 'did you mean amount? There are: rule, amount');
  t.equal(choices('colour', ['rule', 'amount']), 'there are: rule, amount');
  t.equal(choices('colour', []), 'there are none');
  const many = Array.from({ length: 100 }, (_, index) => `name-${index}-x`);
  t.equal(choices('nothing like it', many).split(', ').length, 3, 'but not a hundred names');
});

t.test('durations are whole numbers of a unit', async (t) => {
  t.equal(parseDuration('300ms'), 300);
  t.equal(parseDuration('10m'), 600_000);
  for (const wrong of ['', '0s', '10', '1.5s', '-1s', '10 s', '1d']) t.equal(parseDuration(wrong), undefined, wrong);
});

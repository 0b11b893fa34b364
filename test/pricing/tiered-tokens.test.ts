import t from 'tap';
import type { Input } from '../../src/catalogue/types.ts';
import { tieredTokens } from '../../src/pricing/tiered-tokens.ts';
import { compiled, keepsItsPromises, problemOf, quoteOf } from './contract.ts';
import { validatorOf } from './schema.ts';

const prompt = { type: 'string' };
const system_prompt = { type: 'string' };
const image = { type: 'string' };
const tier = { type: 'string', enum: ['small', 'medium', 'large'], default: 'small' };
const tiers = { small: 1024, medium: 4096, large: 8192 };
const request = { required: ['prompt'], properties: { prompt, system_prompt, image, tier } };
const options = { input: '0.00175', output: '0.014', imageTokens: 1600, tiers };
const blind = { required: ['prompt'], properties: { prompt, system_prompt, tier } };

const longer = (input: Input): Input => ({ ...input, prompt: `${input.prompt}漢` });

t.test('tiers, with text and an image', async (t) => {
  keepsItsPromises(t, tieredTokens, { options, request, bare: { prompt: '' }, more: longer });
});

t.test('a required tier, no image, and a default text that is paid for', async (t) => {
  const properties = {
    ...blind.properties,
    tier: { enum: tier.enum },
    system_prompt: { type: 'string', default: 'Be brief.' },
  };
  keepsItsPromises(t, tieredTokens, {
    options: { input: '0.0015', output: '0.009', tiers },
    request: { required: ['prompt', 'tier'], properties },
    bare: { prompt: '', tier: 'small' },
    more: longer,
  });
});

t.test('text that costs less than a millionth', async (t) => {
  keepsItsPromises(t, tieredTokens, {
    options: { input: '0.000000000001', output: '0', tiers },
    request: blind,
    bare: { prompt: '' },
    more: longer,
  });
});

t.test('rates of 0 are free', async (t) => {
  const free = { input: '0', output: '0', tiers };
  keepsItsPromises(t, tieredTokens, { options: free, request: blind, bare: { prompt: '' }, free: true });
});

t.test('text costs its estimated tokens at the input rate and the tier at the output rate', async (t) => {
  const price = compiled(tieredTokens, options, request);
  const digits = '7'.repeat(750);
  const costs = (input: Input) => quoteOf(price, request, { prompt: digits, ...input });
  // Three digits are a token. 250 tokens in: 0.0004375. Out: 0.014336, 0.057344 and 0.114688.
  t.equal(costs({}), 14_774n);
  t.equal(costs({ tier: 'medium' }), 57_782n);
  t.equal(costs({ tier: 'large' }), 115_126n);
  // An image is 1,600 tokens in: 0.0028.
  t.equal(costs({ image: 'https://example.com/boat.png' }), 17_574n);
  // 750 more digits: 0.000875 in all.
  t.equal(costs({ system_prompt: digits }), 15_211n);
  // 1,000 characters of a token each: 0.00175.
  t.equal(costs({ prompt: '漢'.repeat(1000) }), 16_086n);
  t.strictSame([price.min, price.listed], [14_336n, 14_336n]);
  // All of the largest body is text of a token a byte, and an image besides: 6291456 + 1600 tokens at 0.00175, and
  // 0.114688.
  t.equal(price.max, 11_127_536n);
});

t.test('all texts together are rounded up once, to a token and to a millionth', async (t) => {
  const one = { small: 1, medium: 2, large: 3 };
  const coarse = compiled(tieredTokens, { input: '1', output: '1', tiers: one }, blind);
  // A letter is a token, and each time it is repeated half of one: twice one and a half are three, not four.
  t.equal(quoteOf(coarse, blind, { prompt: 'nn', system_prompt: 'nn' }), 4_000n);
  t.equal(quoteOf(coarse, blind, { prompt: 'nn', system_prompt: 'the n' }), 5_000n);
  const price = compiled(tieredTokens, { input: '0.0004', output: '0.0006', tiers: one }, blind);
  // 0.4 + 0.6 millionths are one, not two.
  t.equal(quoteOf(price, blind, { prompt: '777' }), 1n);
  t.equal(quoteOf(price, blind, { prompt: '7777' }), 2n);
});

t.test('an image that has to be sent is in the least price and in the listed one', async (t) => {
  const price = compiled(tieredTokens, options, { ...request, required: ['prompt', 'image'] });
  // 1,600 tokens in: 0.0028. Out: 0.014336.
  t.strictSame([price.min, price.listed], [17_136n, 17_136n]);
});

t.test('the whole of the largest body costs max, and no more', async (t) => {
  const price = compiled(tieredTokens, options, request, [], 6000);
  const quote = quoteOf(price, request, { prompt: ' 7'.repeat(3000), image: 'i', tier: 'large' });
  // 6,000 + 1,600 tokens at 0.00175, and 0.114688.
  t.strictSame([quote, price.max], [127_988n, 127_988n]);
});

t.test('prices near those that are published', async (t) => {
  const fable = compiled(tieredTokens, { input: '0.01', output: '0.05', imageTokens: 1600, tiers }, request);
  const input = { prompt: 'Why is the sea salt?' };
  // Eight tokens: 0.00008. Out: 0.0512 and 0.4096.
  t.equal(quoteOf(fable, request, input), 51_280n);
  t.equal(quoteOf(fable, request, { ...input, tier: 'large' }), 409_680n);
  t.equal(quoteOf(fable, request, { ...input, image: 'i' }) - quoteOf(fable, request, input), 16_000n);
});

t.test('the text and the image that are paid for may have names of their own', async (t) => {
  const properties = { prompt, notes: { type: 'string' }, photo: image, tier };
  const named = { properties };
  const price = compiled(tieredTokens, { ...options, text: ['notes'], image: 'photo' }, named);
  const costs = (input: Input) => quoteOf(price, named, input);
  t.equal(costs({}), 14_336n);
  t.equal(costs({ prompt: '漢'.repeat(1000) }), 14_336n);
  t.equal(costs({ notes: '漢'.repeat(1000) }), 16_086n);
  t.equal(costs({ photo: 'https://example.com/boat.png' }), 17_136n);
});

t.test('defaults are in the listed price, and in the most that a request can cost', async (t) => {
  const defaults = {
    prompt,
    system_prompt: { type: 'string', default: '7'.repeat(30) },
    tier: { ...tier, default: 'medium' },
  };
  const price = compiled(tieredTokens, { input: '1', output: '1', tiers }, { properties: defaults }, [], 600);
  // 10 tokens of the default besides 600 of the body, and the tier: a thousandth of a dollar each.
  t.strictSame([price.min, price.listed, price.max], [1_024_000n, 4_106_000n, 8_802_000n]);
});

t.test('input or output alone may be free, and what is not costs a millionth at least', async (t) => {
  const one = { small: 1, medium: 2, large: 3 };
  const costs = (input: string, output: string, prompt = '') =>
    quoteOf(compiled(tieredTokens, { input, output, tiers: one }, blind), blind, { prompt });
  t.equal(costs('0', '0.000000000001', 'free'), 1n);
  t.equal(costs('0.000000000001', '0'), 1n);
  t.equal(costs('0', '1', 'free'), 1000n);
  t.equal(costs('0', '0', 'free'), 0n);
});

t.test('a text is paid for once', async (t) => {
  const validate = validatorOf(tieredTokens.options);
  t.ok(validate({ ...options, text: ['prompt', 'system_prompt'] }));
  t.notOk(validate({ ...options, text: ['prompt', 'prompt'] }));
});

t.test('options that do not fit are found', async (t) => {
  const { imageTokens: _, ...imageless } = options;
  t.strictSame(problemOf(tieredTokens, { ...options, tiers: { small: 1024, medium: 4096 } }, request), {
    path: ['tiers', 'large'],
    message: 'price.tiers has no number of tokens for large, which request.properties.tier allows',
  });
  t.strictSame(problemOf(tieredTokens, { ...options, tiers: { ...tiers, huge: 9 } }, request).path, ['tiers', 'huge']);
  t.strictSame(problemOf(tieredTokens, { ...options, tierBy: 'size' }, request), {
    path: ['tierBy'],
    message: 'price.tierBy names size, which request.properties does not have',
  });
  t.strictSame(problemOf(tieredTokens, imageless, request), {
    path: ['imageTokens'],
    message: 'request.properties.image would be free: price.imageTokens does not say what it counts for',
  });
  t.strictSame(problemOf(tieredTokens, options, blind), {
    path: ['imageTokens'],
    message: 'price.imageTokens counts for image, which request.properties does not have',
  });
  t.strictSame(problemOf(tieredTokens, { ...options, image: 'picture' }, request), {
    path: ['image'],
    message: 'price.image names picture, which request.properties does not have',
  });
  t.strictSame(problemOf(tieredTokens, { ...options, text: ['prompt', 'notes'] }, request).path, ['text', '1']);
  const counted = { ...request, properties: { ...request.properties, prompt: { type: 'integer' } } };
  t.strictSame(problemOf(tieredTokens, { ...options, text: ['prompt'] }, counted), {
    path: ['text', '0'],
    message: 'price.text names prompt, which is not a string',
  });
  t.strictSame(problemOf(tieredTokens, options, counted), {
    path: ['text'],
    message: 'price.text names prompt, which is not a string',
  });
  t.strictSame(problemOf(tieredTokens, imageless, { properties: { tier } }), {
    path: ['text'],
    message: 'the request has no text: neither prompt nor system_prompt is in request.properties',
  });
});

t.test('the ceiling of the tier is what is sold', async (t) => {
  const price = compiled(tieredTokens, options, request);
  for (const [tier, maxOutputTokens] of Object.entries(tiers)) {
    t.same(price.terms?.({ prompt: 'hi', tier }), { tier, maxOutputTokens });
  }
});

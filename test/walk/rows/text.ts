/** Section 4.4: four tiered endpoints, six priced by use, the multi-model endpoint and verified inference. */
import { tieredText, usageText, verifiedText } from '../results.ts';
import { choice, type Field, type MirrorOf, number, type Priced, publicUrl, type Row, required, text } from '../row.ts';

const onChainC: MirrorOf = { network: 'chain-c', prefix: 'chain-c-main' };

/** Estimated at 12 tokens. */
const PROMPT = 'Why does fog scatter light?';
const SYSTEM = 'Answer in one short and simple sentence.';
const prompt = required(text(PROMPT));
const system = text(SYSTEM);
const tier = choice(['small', 'medium', 'large']);

const tiered = (path: string, fields: Record<string, Field>, prices: readonly Priced[], minPrice: number): Row => ({
  path,
  price: prices,
  listed: { minPrice },
  fields: { prompt, system_prompt: system, tier, ...fields },
  result: tieredText,
  more: prices
    .filter(({ request }) => request.tier === 'large' || request.image)
    .map((priced) => ({ ...priced, result: tieredText })),
  mirrors: [onChainC],
});

const image = publicUrl();
const [PHOTO] = image.accepts;
/** Three digits are a token. */
const thousand = { prompt: '7'.repeat(3000) };

export const tieredRows: readonly Row[] = [
  // 0.00001 a token in; 0.00005 a token out: 0.0512, 0.2048 and 0.4096 for the ceilings.
  tiered(
    '/llm/vendor1-fable-5',
    { image },
    [
      { request: {}, price: '0.05132' },
      { request: { tier: 'small' }, price: '0.05132' },
      { request: { tier: 'medium' }, price: '0.20492' },
      { request: { tier: 'large' }, price: '0.40972' },
      { request: { image: PHOTO }, price: '0.06732' },
      { request: thousand, price: '0.0612' },
    ],
    0.0512,
  ),
  // 0.000005 a token in; 0.000025 a token out: 0.0256, 0.1024 and 0.2048 for the ceilings.
  tiered(
    '/llm/vendor1-opus-4-6',
    { image },
    [
      { request: {}, price: '0.02566' },
      { request: { tier: 'medium' }, price: '0.10246' },
      { request: { tier: 'large' }, price: '0.20486' },
      { request: { image: PHOTO }, price: '0.03366' },
      { request: { ...thousand, tier: 'large' }, price: '0.2098' },
    ],
    0.0256,
  ),
  // 0.0000015 a token in, and each digit is one; 0.000009 a token out: 0.009216, 0.036864 and 0.073728 for the ceilings.
  tiered(
    '/llm/vendor2-3.5-flash',
    {},
    [
      { request: {}, price: '0.009234' },
      { request: { tier: 'medium' }, price: '0.036882' },
      { request: { tier: 'large' }, price: '0.073746' },
      { request: thousand, price: '0.013716' },
    ],
    0.009216,
  ),
  // 0.00000175 a token in; 0.000014 a token out: 0.014336, 0.057344 and 0.114688 for the ceilings.
  tiered(
    '/llm/vendor3-5.2',
    { image, reasoning_effort: choice(['low', 'medium', 'high']) },
    [
      { request: {}, price: '0.014357' },
      { request: { tier: 'medium' }, price: '0.057365' },
      { request: { tier: 'large' }, price: '0.114709' },
      { request: { image: PHOTO }, price: '0.017157' },
      { request: { ...thousand, reasoning_effort: 'high' }, price: '0.016086' },
    ],
    0.014336,
  ),
];

const MESSAGES = [{ role: 'user', content: PROMPT }];
const chatFields = {
  prompt: { ...prompt, required: true },
  system_prompt: system,
  max_tokens: number({ min: 1, example: 500 }),
  temperature: number({ min: 0, max: 2, step: 0.1 }),
};
const promptOrMessages = {
  accepts: [{ prompt: undefined, messages: MESSAGES }],
  refuses: [{ messages: MESSAGES }, { prompt: undefined, messages: [] }, { prompt: undefined, messages: 'hello' }],
};

/** Quotes are upper bounds: 12 tokens of text, 8 around a message, and as many tokens out as are allowed. */
const usage = (path: string, prices: readonly Priced[]): Row => ({
  path,
  price: prices,
  fields: chatFields,
  rules: promptOrMessages,
  result: usageText,
  more: prices.slice(0, 1).map(({ request, price }) => ({
    request: { ...request, prompt: undefined, messages: MESSAGES, temperature: 0.5 },
    price,
    result: usageText,
  })),
  mirrors: [onChainC],
});

export const usageRows: readonly Row[] = [
  // 5.50 and 27.50 dollars a million: 20 x 5.5 + 1000 x 27.5 = 27,610 millionths.
  usage('/llm/vendor1-opus-5', [
    { request: { max_tokens: 1000 }, price: '0.02761' },
    { request: { max_tokens: 1 }, price: '0.000138' },
  ]),
  // 1.10 and 6.60.
  usage('/llm/vendor3-5.6-luna', [
    { request: { max_tokens: 1000 }, price: '0.006622' },
    { request: { max_tokens: 10 }, price: '0.000088' },
  ]),
  // 5.50 and 33.
  usage('/llm/vendor3-5.6-sol', [
    { request: { max_tokens: 1000 }, price: '0.03311' },
    { request: { max_tokens: 100 }, price: '0.00341' },
  ]),
  // 2.75 and 16.50.
  usage('/llm/vendor3-5.6-terra', [
    { request: { max_tokens: 1000 }, price: '0.016555' },
    { request: { max_tokens: 100 }, price: '0.001705' },
  ]),
  // 2.20 and 6.60.
  usage('/llm/vendor4-4.5', [
    { request: { max_tokens: 1000 }, price: '0.006644' },
    { request: { max_tokens: 100 }, price: '0.000704' },
  ]),
  // 3.30 and 16.50.
  usage('/llm/vendor5-k3', [
    { request: { max_tokens: 1000 }, price: '0.016566' },
    { request: { max_tokens: 100 }, price: '0.001716' },
  ]),
];

const MODELS = [
  'vendor3-5.6-luna',
  'vendor5-k2.6',
  'vendor6-5.1',
  'vendor2-3.5-flash',
  'vendor3-5.2',
  'vendor3-5.6-terra',
  'vendor3-5.6-sol',
  'vendor4-4.5',
  'vendor5-k3',
  'vendor1-fable-5',
  'vendor7-3-ultra-550b',
  'vendor8-v4-pro',
];

const PICTURES = [{ role: 'user', content: [{ type: 'image_url', image_url: { url: PHOTO } }] }];
const withPictures = (model: string) => ({ model, prompt: undefined, messages: PICTURES });

export const multiModelRows: readonly Row[] = [
  {
    path: '/llm/multi-model',
    // The models that have a price of their own in section 4.4: the same, or the tiered rates with ten percent more.
    price: [
      { request: { max_tokens: 1000 }, price: '0.006622' },
      { request: { model: 'vendor3-5.6-sol', max_tokens: 1000 }, price: '0.03311' },
      { request: { model: 'vendor3-5.6-terra', max_tokens: 1000 }, price: '0.016555' },
      { request: { model: 'vendor4-4.5', max_tokens: 1000 }, price: '0.006644' },
      { request: { model: 'vendor5-k3', max_tokens: 1000 }, price: '0.016566' },
      { request: { model: 'vendor1-fable-5', max_tokens: 1000 }, price: '0.05522' },
      { request: { model: 'vendor2-3.5-flash', max_tokens: 1000 }, price: '0.009933' },
      { request: { model: 'vendor3-5.2', max_tokens: 1000 }, price: '0.015439' },
    ],
    fields: { model: required(choice(MODELS)), ...chatFields },
    rules: {
      accepts: [...promptOrMessages.accepts, withPictures('vendor3-5.6-luna'), withPictures('vendor5-k2.6')],
      // Models that read no pictures.
      refuses: [
        ...promptOrMessages.refuses,
        ...['vendor6-5.1', 'vendor7-3-ultra-550b', 'vendor8-v4-pro'].map(withPictures),
      ],
    },
    result: usageText,
    mirrors: [onChainC],
  },
];

const VERIFIED_MODELS = [
  'vendor3-oss-20b',
  'vendor8-v4-flash',
  'vendor9-2.5-7b',
  'vendor9-3.5-27b',
  'vendor9-3.6-27b',
  'vendor9-3-vl-30b',
  'vendor3-oss-120b',
  'vendor2-4-31b',
  'vendor9-3.5-122b',
  'vendor5-k2.6',
  'vendor6-5.2',
  'vendor8-v4-pro',
];

export const verifiedRows: readonly Row[] = [
  {
    path: '/llm/verified',
    // Which model is in which tier is the operator's; that the smallest is standard and the largest flagship is not.
    price: [
      { request: { model: 'vendor9-2.5-7b' }, price: '0.0014' },
      { request: { model: 'vendor8-v4-pro' }, price: '0.01' },
    ],
    listed: { minPrice: 0.0014 },
    fields: {
      model: required(choice(VERIFIED_MODELS)),
      prompt,
      system_prompt: system,
      max_tokens: number({ min: 1, example: 500 }),
      temperature: number({ min: 0, max: 2, step: 0.1 }),
    },
    result: verifiedText,
    mirrors: [onChainC],
  },
];

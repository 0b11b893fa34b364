/** What is refused before anything is paid, of requests for images, videos and sound. */
import type { ValidateFunction } from 'ajv/dist/2020.js';
import t from 'tap';
import { openSchemaCompiler } from '../../src/catalogue/schemas/ajv.ts';
import type { Route } from '../../src/catalogue/types.ts';
import { toDecimal, usd } from '../../src/money.ts';
import { chatTokens, IMAGE_TOKENS } from '../../src/pricing/estimate.ts';
import { priceModel, tokenCost } from '../../src/pricing/tokens.ts';
import { urlRefusal } from '../../src/upstream/http/public-url.ts';
import { loadSound } from '../load-catalogue.ts';

const catalogue = loadSound();
const compiler = openSchemaCompiler({ strict: false });
const validators = new Map<string, ValidateFunction>();

function routeAt(path: string): Route {
  const route = catalogue.routes.find((candidate) => candidate.path === path);
  if (!route) throw new Error(`no route at ${path}`);
  return route;
}

function accepts(path: string, input: object): boolean {
  const validate = validators.get(path) ?? compiler.compile(routeAt(path).request);
  validators.set(path, validate);
  return validate({ ...input }) === true;
}

const prompt = 'fog';
const image = 'https://example.com/a.png';
const many = (count: number) => Array.from({ length: count }, (_, index) => `https://example.com/${index}.png`);

t.test('an address that the gateway would not go to is refused before it is paid for', async (t) => {
  const refused = [
    ...[
      'http://example.com/a.png',
      'ftp://example.com/a.png',
      'file:///etc/passwd',
      'data:image/png;base64,AA',
      'a.png',
    ],
    ...['https://localhost/a.png', 'https://LOCALHOST/a.png', 'https://a.localhost/a.png', 'https://localhost./a.png'],
    ...['https://127.0.0.1/a.png', 'https://127.1/a.png', 'https://2130706433/a.png', 'https://0x7f000001/a.png'],
    ...['https://0x7f.1/a.png', 'https://127.0.0.0x1/a.png', 'https://10.0.0.1:8443/a.png', 'https://[::1]/a.png'],
    ...['https://[fd00::1]/a.png', 'https://[::ffff:10.0.0.1]/a.png', 'https://169.254.169.254/latest/meta-data/a.png'],
    ...[
      'https://metadata.google.internal/a.png',
      'https://metadata.google.INTERNAL/a.png',
      'https://nas.local:443/a.png',
    ],
    ...['https://router.lan/a.png', 'https://box.home.arpa/a.png', 'https://user:word@example.com/a.png'],
    ...['https://example.com@127.0.0.1/a.png', 'https://example.com\\@127.0.0.1/a.png', 'https:///a.png', 'https://'],
    ...['https://nas.local./a.png', 'https://%6c%6fcalhost/a.png', 'https://exa mple.com/a.png'],
  ];
  const taken = [
    ...[image, 'https://cdn.example.co.uk:8443/x/y.webp?size=2&v=1#top', 'https://xn--bcher-kva.example/a.jpg'],
    ...['https://a_b.example.com/a.png', 'https://localhost.example.com/a.png', 'https://internal.example.com/a.png'],
    ...['https://1.2.example.com/a.png', 'https://EXAMPLE.com/a.png'],
  ];
  for (const url of refused) t.notOk(accepts('/image/family-e', { prompt, referenceImage: [url] }), url);
  for (const url of taken) {
    t.equal(urlRefusal(url), undefined, url);
    t.ok(accepts('/image/family-e', { prompt, referenceImage: [url] }), url);
    t.ok(accepts('/audio/speech-to-text', { audio_file: url }), url);
  }
  const fields: [string, object, string, boolean][] = [
    ['/image/creative-director', { idea: prompt }, 'reference_images', true],
    ['/image/designer', { prompt }, 'referenceImage', true],
    ['/image/family-c-imagine', { prompt }, 'referenceImage', false],
    ['/chain-e/image/family-a-2-flex', { prompt }, 'input_images', true],
    ['/image-model/family-g-4.5', { prompt }, 'referenceImage', true],
    ['/video/short-generation', { prompt }, 'image_url', false],
    ['/video/family-c-1.5-short', { prompt }, 'image_url', false],
    ['/video/family-h-generation', { prompt }, 'reference_images', true],
    ['/video/family-h-2.5', { prompt }, 'reference_images', true],
    ['/audio/speech-to-text', {}, 'audio_file', false],
  ];
  for (const [path, rest, field, isList] of fields) {
    const given = (url: string) => ({ ...rest, [field]: isList ? [url] : url });
    t.ok(accepts(path, given(image)), path);
    for (const url of ['https://10.0.0.1/a.png', 'http://example.com/a.png']) t.notOk(accepts(path, given(url)), path);
  }
});

const limits: [string, object, { accepted: readonly unknown[]; refused: readonly unknown[] }][] = [
  [
    '/image/family-b-image-2',
    { prompt, aspect_ratio: '?' },
    { accepted: ['1:1', '3:2', '2:3'], refused: ['16:9', '', 1] },
  ],
  ['/image/family-c-imagine', { prompt, referenceImage: '?' }, { accepted: [image], refused: [[image], ''] }],
  ['/image/family-d-2-medium', { prompt, creativity: '?' }, { accepted: ['raw', 'high'], refused: ['extreme', 1] }],
  [
    '/image/family-d-2-large',
    { prompt, moodboard_strength: '?' },
    { accepted: [0, 0.5, 1], refused: [-0.1, 1.1, '1'] },
  ],
  ['/image/family-d-2-large', { prompt, style_reference_strength: '?' }, { accepted: [0, 1], refused: [-0.1, 1.1] }],
  ['/image/designer', { prompt, style: '?' }, { accepted: [[], ['noir']], refused: ['noir', [1]] }],
  ['/chain-e/image/family-a-2-pro', { prompt, input_images: '?' }, { accepted: [many(8)], refused: [many(9)] }],
  ['/chain-e/image/family-a-2-flex', { prompt, input_images: '?' }, { accepted: [many(10)], refused: [many(11)] }],
  ['/chain-e/image/family-a-2-max', { prompt, output_quality: '?' }, { accepted: [0, 100], refused: [-1, 101] }],
  ['/chain-e/image/family-a-2-max', { prompt, safety_tolerance: '?' }, { accepted: [1, 5], refused: [0, 6] }],
  [
    '/video/family-c-1.5-short',
    { prompt, image_url: '?' },
    {
      accepted: ['jpeg', 'jpg', 'png', 'webp', 'PNG', 'png?v=1'].map((end) => `https://example.com/a.${end}`),
      refused: ['gif', 'png.exe', 'html?x=.png', 'svg#.png', 'png/'].map((end) => `https://example.com/a.${end}`),
    },
  ],
  [
    '/video/family-c-1.5-short',
    { prompt, image_url: image, resolution: '?' },
    { accepted: ['1080p'], refused: ['4k'] },
  ],
  ['/video/family-h-generation', { prompt, duration: '?' }, { accepted: [1, 10, 1.5], refused: [0, 11, '5'] }],
  ['/video/family-h-2.5', { prompt, duration: '?' }, { accepted: [4, 30], refused: [3, 31] }],
  ['/video/family-h-2.5', { prompt, resolution: '?' }, { accepted: ['480p', '720p'], refused: ['1080p'] }],
  ['/video/family-h-2.5', { prompt, reference_images: '?' }, { accepted: [many(30)], refused: [many(31), image] }],
  ['/audio/elevenlabs-music', { prompt, music_length_ms: '?' }, { accepted: [1000, 180_000], refused: [999, 180_001] }],
  ['/audio/x-text-to-speech', { text: 'hello', voice_id: '?' }, { accepted: ['Eve', 'Sal'], refused: ['eve', 'Bob'] }],
  ['/audio/x-text-to-speech', { text: '?' }, { accepted: ['x'.repeat(600)], refused: ['', 'x'.repeat(601)] }],
  [
    '/audio/x-text-to-speech',
    { text: 'hello', output_format: '?' },
    {
      accepted: [
        'mp3',
        'wav',
        'wav_48000',
        'mp3_24000',
        'mp3_24000_128000',
        'mp3_44100_128',
        {},
        { codec: 'wav' },
      ].concat({
        codec: 'mp3',
        sample_rate: 24_000,
        bit_rate: 128_000,
      } as object),
      refused: ['ogg', 'mp3_24001', 'wav_24000_128', { codec: 'ogg' }, { sample_rate: 1 }, { rate: 8000 }, 3, null],
    },
  ],
];

for (const [path, input, { accepted, refused }] of limits) {
  const [field = ''] = Object.entries(input).find(([, value]) => value === '?') ?? [];
  t.test(`${path} holds ${field} to its limits before payment`, async (t) => {
    for (const value of accepted) t.ok(accepts(path, { ...input, [field]: value }), JSON.stringify(value).slice(0, 80));
    for (const value of refused)
      t.notOk(accepts(path, { ...input, [field]: value }), JSON.stringify(value).slice(0, 80));
  });
}

t.test('what a caller can have models read costs less there than the call, whose price is one for all', async (t) => {
  const longest = 'a lighthouse in fog '.repeat(100);
  const read = [
    {
      path: '/image/creative-director',
      most: { idea: longest, reference_images: many(3) },
      tooMuch: [{ idea: `${longest}.` }, { idea: prompt, reference_images: many(4) }],
      models: ['vendor4-4.5', 'vendor4-4.5'],
    },
    {
      path: '/image/designer',
      most: { prompt: longest, referenceImage: many(14) },
      tooMuch: [{ prompt: `${longest}.` }, { prompt, referenceImage: many(15) }],
      models: ['vendor2-3.5-flash'],
    },
  ];
  const known = new Map(
    Object.entries(catalogue.upstreams.get('chat')?.models ?? {}).map(([name, model]) => [name, { ...model, name }]),
  );
  for (const { path, most, tooMuch, models } of read) {
    t.ok(accepts(path, most), path);
    for (const input of tooMuch) t.notOk(accepts(path, input), JSON.stringify(input).slice(0, 80));
    const pictures = Object.values(most).filter(Array.isArray).flat().length;
    const promptTokens = chatTokens({ prompt: longest }, IMAGE_TOKENS) + pictures * IMAGE_TOKENS;
    const costs = models.map((name) =>
      tokenCost(priceModel(known, name, 0n, []), { promptTokens, completionTokens: 0 }),
    );
    const cost = costs.reduce((sum, one) => sum + one);
    t.ok(cost < routeAt(path).price.quote(most), `${path}: ${toDecimal(cost)}`);
  }
});

t.test('a surface or mirror costs what it is listed at, where that differs from the base route', async (t) => {
  const cost = (path: string) => routeAt(path).price.quote({ prompt });
  t.equal(cost('/mpp/image/designer'), usd('0.08'));
  t.equal(cost('/mpp/image/family-e-pro'), usd('0.20'));
  t.equal(cost('/mpp/image/family-e'), usd('0.10'));
  t.equal(cost('/chain-e/image/family-a-2-max'), usd('0.1'));
  t.equal(cost('/chain-e/image/family-a-2-flex'), usd('0.05'));
  t.equal(cost('/chain-e/image/designer'), cost('/image/designer'));
});

t.test('every image endpoint is mirrored on chain-e', async (t) => {
  const groups = ['image', 'image-model'];
  const images = catalogue.endpoints.filter((endpoint) => groups.includes(endpoint.group));
  t.equal(images.length, 15);
  for (const { id, group, routes } of images) {
    t.ok(
      routes.some(({ path, networks }) => path === `/chain-e/${id}` && networks.join() === 'chain-e'),
      `${group} ${id}`,
    );
  }
});

t.test('images, music and speech have the two minutes that they can take at their providers', async (t) => {
  const media = catalogue.routes.filter(({ endpoint }) => ['image', 'image-model', 'audio'].includes(endpoint.group));
  t.equal(media.length, 42);
  for (const { path, deadlineMs } of media) t.ok(deadlineMs >= 120_000, path);
});

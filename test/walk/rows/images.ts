/** Sections 4.1 and 4.10: thirteen image endpoints, and the two image models that count as AI endpoints. */
import {
  creativeDirection,
  image,
  imageOfFamilyB,
  imageOfMirroredFamilyA,
  imageOfMirroredModel,
  imageOfResolution,
} from '../results.ts';
import {
  choice,
  type Field,
  images,
  type MirrorOf,
  number,
  publicUrl,
  type Row,
  type Rules,
  required,
  text,
  textBut,
  texts,
} from '../row.ts';

const prompt = required(text('a lighthouse in fog'));
const ratio = (byDefault?: string): Field => textBut(['16:9', '1:1'], ['wide'], byDefault);
const references = images();
const onChainE: MirrorOf = { network: 'chain-e', prefix: 'chain-e' };

/** `max`: how many input images the model takes. */
const familyAMirror = (price: string, max?: number): MirrorOf => ({
  ...onChainE,
  price,
  fields: {
    prompt,
    resolution: textBut(['1 MP', '0.5 MP', '4 MP'], ['huge', '3 MP']),
    aspect_ratio: textBut(['16:9', '1:1'], ['wide']),
    input_images: images(max),
    output_format: choice(['webp', 'png', 'jpg']),
    output_quality: number({ min: 0, max: 100 }),
    safety_tolerance: number({ min: 1, max: 5, default: 2 }),
    seed: number({ example: 7 }),
  },
  rules: {
    accepts: [{ aspect_ratio: 'custom', width: 512, height: 1024 }],
    refuses: [
      { aspect_ratio: 'custom' },
      { aspect_ratio: 'custom', width: 512 },
      { aspect_ratio: 'custom', width: 520, height: 1024 },
      { aspect_ratio: 'custom', width: 512, height: 1025 },
    ],
  } satisfies Rules,
  result: imageOfMirroredFamilyA,
});

const FURTHER = ['chain-c', 'chain-d', 'chain-e', 'chain-f', 'polygon', 'arbitrum', 'avalanche'];

const familyD = (path: string, price: string): Row => ({
  path,
  price,
  furtherNetworks: 7,
  fields: {
    prompt,
    aspect_ratio: ratio(),
    creativity: text('medium'),
    moodboard_strength: number({ min: 0, max: 1, step: 0.01 }),
    style_reference_strength: number({ min: 0, max: 1, step: 0.01 }),
    referenceImage: references,
  },
  result: image,
  more: path.endsWith('-turbo') ? FURTHER.map((on) => ({ request: {}, result: image, on })) : [],
  mirrors: [onChainE],
});

const plain = (path: string, price: string, mirror: MirrorOf = onChainE): Row => ({
  path,
  price,
  fields: { prompt, aspect_ratio: ratio(), referenceImage: references },
  result: image,
  mirrors: [mirror],
});

export const imageRows: readonly Row[] = [
  {
    path: '/image/creative-director',
    price: '0.03',
    fields: { idea: required(text('a poster for a lighthouse museum')), reference_images: references },
    result: creativeDirection,
    mirrors: [onChainE, { network: 'chain-f', prefix: 'chain-f' }],
  },
  {
    path: '/image/designer',
    price: '0.06',
    fields: { prompt, style: texts('watercolour'), aspect_ratio: ratio('1:1'), referenceImage: references },
    result: image,
    mirrors: [onChainE],
  },
  plain('/image/family-a-2-flex', '0.06', familyAMirror('0.05', 10)),
  plain('/image/family-a-2-max', '0.08', familyAMirror('0.1')),
  plain('/image/family-a-2-pro', '0.05', familyAMirror('0.06', 8)),
  {
    path: '/image/family-b-image-2',
    price: '0.12',
    fields: { prompt, aspect_ratio: choice(['1:1', '3:2', '2:3'], '1:1') },
    result: imageOfFamilyB,
    mirrors: [onChainE],
  },
  {
    path: '/image/family-c-imagine',
    price: '0.04',
    furtherNetworks: 2,
    fields: { prompt, referenceImage: { ...publicUrl(), refuses: [...publicUrl().refuses, [publicUrl().accepts[0]]] } },
    result: image,
    mirrors: [onChainE],
  },
  familyD('/image/family-d-2-large', '0.07'),
  familyD('/image/family-d-2-medium', '0.05'),
  familyD('/image/family-d-2-medium-turbo', '0.02'),
  plain('/image/family-e', '0.05'),
  {
    path: '/image/family-e-2',
    price: [
      { request: {}, price: '0.06' },
      { request: { resolution: '1k' }, price: '0.06' },
      { request: { resolution: '2k' }, price: '0.10' },
      { request: { resolution: '4k' }, price: '0.15' },
    ],
    listed: { minPrice: 0.06 },
    fields: { prompt, resolution: choice(['1k', '2k', '4k'], '1k'), aspect_ratio: ratio(), referenceImage: references },
    result: imageOfResolution,
    more: [
      {
        request: { resolution: '2k', referenceImage: references.accepts[0] },
        price: '0.10',
        result: imageOfResolution,
      },
    ],
    mirrors: [onChainE],
  },
  plain('/image/family-e-pro', '0.15'),
];

export const imageModelRows: readonly Row[] = [
  plain('/image-model/family-f-image', '0.05', { ...onChainE, result: imageOfMirroredModel }),
  {
    ...plain('/image-model/family-g-4.5', '0.08', { ...onChainE, result: imageOfMirroredModel }),
    // Its provider takes no longer ones.
    rules: { accepts: [{ prompt: 'f'.repeat(4000) }], refuses: [{ prompt: 'f'.repeat(4001) }] },
  },
];

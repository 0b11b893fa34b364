/** Section 4.9: the MPP surface. */
import { creativeDirection, image, imageOfResolution, launchpad, music, transcript, video } from '../results.ts';
import {
  choice,
  type Field,
  flag,
  images,
  number,
  type Priced,
  pricesOf,
  publicUrl,
  required,
  SPEECH,
  text,
  textBut,
} from '../row.ts';
import type { Shape } from '../shape.ts';

interface Operation {
  readonly path: string;
  readonly method: 'GET' | 'POST';
  readonly operationId: string;
  readonly pricingMode: 'fixed' | 'quote';
  readonly prices: readonly Priced[];
  readonly fields: Readonly<Record<string, Field>>;
  readonly result: Shape;
}

const prompt = required(text('a lighthouse in fog'));
const aspect_ratio = textBut(['16:9', '1:1'], ['wide']);
const referenceImage = images();

const fixed = (
  path: string,
  operationId: string,
  price: string,
  fields: Record<string, Field>,
  result: Shape,
): Operation => ({
  path: `/mpp${path}`,
  method: 'POST',
  operationId,
  pricingMode: 'fixed',
  prices: pricesOf(price),
  fields,
  result,
});

export const operations: readonly Operation[] = [
  fixed(
    '/image/creative-director',
    'mpp_image_creative_director',
    '0.03',
    { idea: required(text('a poster for a lighthouse museum')), reference_images: images() },
    creativeDirection,
  ),
  fixed(
    '/image/designer',
    'mpp_image_designer',
    '0.08',
    {
      prompt,
      style: { required: false, accepts: [['watercolour']], refuses: ['watercolour'] },
      aspect_ratio: { ...aspect_ratio, default: '1:1' },
      referenceImage,
    },
    image,
  ),
  fixed('/image/family-e-pro', 'mpp_image_nano_banana_pro', '0.20', { prompt, aspect_ratio, referenceImage }, image),
  fixed('/image/family-e', 'mpp_image_nano_banana', '0.10', { prompt, aspect_ratio, referenceImage }, image),
  {
    path: '/mpp/image/family-e-2',
    method: 'POST',
    operationId: 'mpp_image_nano_banana_2',
    pricingMode: 'quote',
    prices: [
      { request: {}, price: '0.06' },
      { request: { resolution: '1k' }, price: '0.06' },
      { request: { resolution: '2k' }, price: '0.10' },
      { request: { resolution: '4k' }, price: '0.15' },
    ],
    fields: { prompt, resolution: choice(['1k', '2k', '4k'], '1k'), aspect_ratio, referenceImage },
    result: imageOfResolution,
  },
  fixed('/image/family-c-imagine', 'mpp_image_grok_imagine', '0.04', { prompt, referenceImage: publicUrl() }, image),
  fixed(
    '/video/short-generation',
    'mpp_video_short_generation',
    '0.50',
    { prompt, aspect_ratio, image_url: publicUrl() },
    video(10),
  ),
  {
    path: '/mpp/audio/elevenlabs-music',
    method: 'POST',
    operationId: 'mpp_audio_elevenlabs_music',
    pricingMode: 'quote',
    prices: [
      { request: { music_length_ms: 6000 }, price: '0.05' },
      { request: { music_length_ms: 1000 }, price: '0.008334' },
      { request: { music_length_ms: 120_000 }, price: '1.00' },
      { request: { music_length_ms: 180_000 }, price: '1.50' },
    ],
    fields: {
      prompt,
      output_format: text('mp3_standard'),
      music_length_ms: number({ min: 1000, max: 180_000 }),
      force_instrumental: flag(),
    },
    result: music,
  },
  fixed(
    '/audio/speech-to-text',
    'mpp_audio_speech_to_text',
    '0.02',
    { audio_file: required(publicUrl(SPEECH)), language: text('de', 'en') },
    transcript,
  ),
  {
    ...fixed('/token/launchpad-trending', 'mpp_token_pumpfun_trending', '0.10', {}, launchpad),
    method: 'GET',
  },
];

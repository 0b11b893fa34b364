/** Sections 4.2 and 4.3: four video endpoints, three audio endpoints. */
import { music, speech, transcript, video, videoWithThumbnail } from '../results.ts';
import { choice, flag, images, number, PHOTO, publicUrl, type Row, required, SPEECH, text, textBut } from '../row.ts';

const prompt = required(text('waves break on a lighthouse'));

export const videoRows: readonly Row[] = [
  {
    path: '/video/family-c-1.5-short',
    price: '0.5',
    fields: {
      prompt,
      image_url: required(
        textBut(
          ['.jpg', '.jpeg', '.png', '.webp'].map((extension) => `https://example.com/photo${extension}`),
          ['https://example.com/photo.gif', 'https://example.com/photo', 'http://example.com/photo.jpg'],
        ),
      ),
      resolution: choice(['480p', '720p', '1080p'], '720p'),
      aspect_ratio: textBut(['auto', '16:9'], ['wide'], 'auto'),
    },
    result: videoWithThumbnail(10),
  },
  {
    path: '/video/short-generation',
    price: '0.5',
    fields: { prompt, aspect_ratio: textBut(['16:9'], ['wide']), image_url: publicUrl() },
    result: video(10),
    more: [{ request: { image_url: PHOTO }, result: video(10), on: 'chain-c' }],
  },
  {
    path: '/video/family-h-generation',
    price: '0.8',
    fields: {
      prompt,
      aspect_ratio: textBut(['16:9', '9:16'], ['wide'], '16:9'),
      duration: number({ min: 1, max: 10, default: 10 }),
      resolution: choice(['480p', '720p', '1080p'], '480p'),
      reference_images: images(),
    },
    result: videoWithThumbnail(10),
    more: [{ request: { duration: 1 }, result: videoWithThumbnail(1), on: 'chain-c' }],
  },
  {
    path: '/video/family-h-2.5',
    price: [
      { request: {}, price: '1.30' },
      { request: { duration: 4, resolution: '480p' }, price: '0.48' },
      { request: { duration: 4, resolution: '720p' }, price: '1.04' },
      { request: { resolution: '480p' }, price: '0.60' },
      { request: { duration: 30, resolution: '480p' }, price: '3.60' },
      { request: { duration: 30, resolution: '720p' }, price: '7.80' },
    ],
    listed: { minPrice: 0.48 },
    fields: {
      prompt,
      aspect_ratio: textBut(['16:9', 'adaptive'], ['wide'], '16:9'),
      duration: number({ min: 4, max: 30, default: 5 }),
      resolution: choice(['480p', '720p'], '720p'),
      generate_audio: flag(),
      reference_images: images(30),
    },
    result: videoWithThumbnail(5),
    more: [
      {
        request: { duration: 4, resolution: '480p', reference_images: [PHOTO] },
        result: videoWithThumbnail(4),
        price: '0.48',
        on: 'chain-c',
      },
    ],
  },
];

export const audioRows: readonly Row[] = [
  {
    path: '/audio/elevenlabs-music',
    price: [
      // The default length is 120 s; a thousandth of it more than a thirtieth of a dollar rounds up to a millionth.
      { request: {}, price: '1.00' },
      { request: { music_length_ms: 1000 }, price: '0.008334' },
      { request: { music_length_ms: 60_000 }, price: '0.50' },
      { request: { music_length_ms: 90_001 }, price: '0.750009' },
      { request: { music_length_ms: 120_000 }, price: '1.00' },
      { request: { music_length_ms: 180_000 }, price: '1.50' },
    ],
    listed: { price: 1.5, minPrice: 1 },
    fields: {
      prompt: required(text('a slow waltz for accordion')),
      output_format: text('mp3_standard'),
      music_length_ms: number({ min: 1000, max: 180_000 }),
      force_instrumental: flag(),
    },
    result: music,
  },
  {
    path: '/audio/speech-to-text',
    price: '0.02',
    fields: {
      audio_file: required(publicUrl(SPEECH)),
      language: text('de', 'en'),
    },
    result: transcript,
  },
  {
    path: '/audio/x-text-to-speech',
    price: '0.01',
    fields: {
      text: required(text('The light is on.')),
      voice_id: choice(['Eve', 'Ara', 'Leo', 'Rex', 'Sal']),
      output_format: {
        required: false,
        accepts: ['mp3', { codec: 'mp3', sample_rate: 24_000, bit_rate: 128_000 }],
        refuses: [7, { codec: 'no-such-codec' }],
      },
    },
    result: speech,
    more: [{ request: { output_format: { codec: 'wav', sample_rate: 16_000 }, voice_id: 'Ara' }, result: speech }],
  },
];

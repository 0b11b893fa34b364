/**
 * OpenAI's image generation and transcription.
 * Source: `openai` 6.49.0 (resources/images, resources/audio/transcriptions) and openai-openapi 2.3.0.
 */

import type { Input } from '../../../catalogue/types.ts';
import { fieldsTaken } from '../../../catalogue/upstreams/mapped-field.ts';
import { asJsonObject, type JsonObject } from '../../../json.ts';
import type { CallContext, ModelAdapter, ModelBinding } from '../../adapter.ts';
import type { FormPart, UpstreamResponse } from '../../http/upstream-http.ts';
import { type InputMapping, inputMappingSchema, mapInput } from '../../input-mapping.ts';
import { mediaDuration } from '../../media/facts.ts';
import { longestPlay } from '../../media/playing/longest.ts';
import {
  type ImageResult,
  imageResult,
  type MediaResultOptions,
  mediaAnswers,
  mediaResultOptions,
} from '../../media/results.ts';
import { sniffMediaType } from '../../media/type.ts';
import { UpstreamProblem } from '../../problem.ts';
import { errorProblem, isOfRequest } from './chat-errors.ts';

type OpenaiMediaOptions = MediaResultOptions & {
  readonly result: 'image' | 'transcript';
  readonly input: InputMapping;
  /** Of a transcript: how long the caller's file may play. */
  readonly maxSeconds?: number;
  /** Sent with every request, over what the mapping gives. */
  readonly fixed?: { readonly [providerField: string]: unknown };
};

/** What OpenAI takes as a file. */
const LARGEST_AUDIO = 25 * 1024 * 1024;

export const openaiMedia: ModelAdapter<OpenaiMediaOptions> = {
  name: 'openai-media',
  model: 'named',
  secrets: ['key'],
  options: {
    type: 'object',
    required: ['result', 'input'],
    properties: {
      result: { enum: ['image', 'transcript'], description: 'What a call makes' },
      input: {
        ...inputMappingSchema,
        description: 'Provider field: the request field it comes from. file takes an address, which the gateway reads',
      },
      maxSeconds: {
        type: 'number',
        exclusiveMinimum: 0,
        description:
          "Of a transcript: the most seconds that the caller's file may play, for the provider bills by them. One that does not tell is refused, too",
        examples: [180],
      },
      fixed: { type: 'object', description: 'Provider field: the value that every request sends' },
      ...mediaResultOptions,
    },
  },
  reads: () => ({ fields: {} }),
  answers: ({ result }) => mediaAnswers[result as OpenaiMediaOptions['result']],
  sends: (result) => (result === 'transcript' ? ['file'] : ['prompt']),
  authorize: (_request, { key }) => ({ headers: { authorization: `Bearer ${key}` } }),
  async call(input, binding, context) {
    const sent = { ...mapInput(binding.options.input, input), ...binding.options.fixed };
    switch (binding.options.result) {
      case 'image':
        return await generate(input, sent, binding, context);
      case 'transcript':
        return await transcribe(sent, binding, context);
    }
  },
};

async function generate(
  input: Input,
  sent: JsonObject,
  binding: ModelBinding<OpenaiMediaOptions>,
  context: CallContext,
): Promise<ImageResult> {
  const { options } = binding;
  const json = { model: binding.model.id, n: 1, ...sent };
  const { base64, requestId } = await context.once(json, () => draw(json, binding, context));
  const file = await context.media.put(Buffer.from(base64, 'base64'), 'image');
  const produced = {
    file,
    model: binding.model.name,
    requestId,
    input,
    sent,
    providerUrl: undefined,
    options,
  };
  return imageResult(produced);
}

async function draw(
  json: JsonObject,
  { http, upstream }: ModelBinding<OpenaiMediaOptions>,
  { signal }: CallContext,
): Promise<{ base64: string; requestId: string | undefined }> {
  const response = await http.request({ method: 'POST', path: '/images/generations', json, signal, accept: REFUSALS });
  if (response.status >= 400)
    throw refusal(upstream, response, 'The provider does not take this combination of values');
  const { data } = asJsonObject(response.json());
  const { b64_json: base64 } = asJsonObject(Array.isArray(data) ? data[0] : undefined);
  if (typeof base64 !== 'string') {
    throw new UpstreamProblem('malformed', upstream, 'answered no image: b64_json is missing');
  }
  return { base64, requestId: response.headers['x-request-id'] };
}

/** OpenAI takes the bare code of a language: that of `en-GB` is `en`. Without one it finds out itself. */
function languagePart(language: unknown): FormPart[] {
  if (typeof language !== 'string' || language === 'auto') return [];
  return [{ name: 'language', value: (language.split('-')[0] ?? language).toLowerCase() }];
}

interface Transcript {
  text: string;
  metadata: { model: string; language: unknown; duration_seconds?: number };
}

async function transcribe(
  { file: address, language, ...sent }: JsonObject,
  binding: ModelBinding<OpenaiMediaOptions>,
  context: CallContext,
): Promise<Transcript> {
  const { http, upstream } = binding;
  const { signal, downloads, caller } = context;
  const file = await downloads.download(String(address), {
    upstream,
    givenBy: 'caller',
    caller,
    signal,
    maxBytes: LARGEST_AUDIO,
  });
  const sound = audioFile(file, upstream);
  demandShort(file, binding);
  const parts: FormPart[] = [
    { name: 'model', value: binding.model.id },
    ...languagePart(language),
    ...Object.entries({ response_format: 'json', ...sent }).map(([name, value]) => ({ name, value: String(value) })),
    { name: 'file', value: sound },
  ];
  const response = await http.request({
    method: 'POST',
    path: '/audio/transcriptions',
    parts,
    signal,
    accept: REFUSALS,
  });
  if (response.status >= 400) throw refusal(upstream, response, 'The provider cannot read the audio file');
  const answer = asJsonObject(response.json());
  if (typeof answer.text !== 'string') {
    throw new UpstreamProblem('malformed', upstream, 'answered no transcript: text is missing');
  }
  const { seconds } = asJsonObject(answer.usage);
  // What usage says is rounded up, for the bill.
  const duration = asNumber(answer.duration) ?? mediaDuration(file) ?? asNumber(seconds);
  return {
    text: answer.text,
    metadata: {
      model: binding.model.name,
      language: answer.language ?? (language === 'auto' ? 'und' : language),
      ...(duration !== undefined && { duration_seconds: Math.round(duration * 100) / 100 }),
    },
  };
}

/** As a form part. OpenAI goes by the name's extension, so it must say what the bytes are. */
function audioFile(bytes: Buffer, upstream: string): FormPart['value'] {
  const type = sniffMediaType(bytes);
  if (type?.kind === 'audio' || type?.kind === 'video')
    return { bytes, fileName: `audio.${type.extension}`, type: type.type };
  const publicMessage = 'The file is no audio: give the address of an MP3, M4A, MP4, WAV, WebM, OGG or FLAC file';
  throw new UpstreamProblem('invalid-input', upstream, `${type?.type ?? 'unknown bytes'} in place of audio`, {
    publicMessage,
  });
}

/** Throws UpstreamProblem for a file that plays for longer than is sold, or does not tell. */
function demandShort(bytes: Buffer, { options, upstream }: ModelBinding<OpenaiMediaOptions>): void {
  const { maxSeconds, input } = options;
  if (maxSeconds === undefined) return;
  const seconds = longestPlay(bytes, maxSeconds);
  if (seconds !== undefined && seconds <= maxSeconds) return;
  const field = fieldsTaken(input.file)[0]?.field ?? 'The file';
  const publicMessage =
    seconds === undefined
      ? `${field} does not tell how long it plays: give the address of an MP3, WAV or FLAC file, of AAC in MP4 or M4A, or of Opus or Vorbis in OGG or WebM`
      : `${field} plays for more than ${maxSeconds} seconds, which is the most: cut it, and send each part by itself`;
  throw new UpstreamProblem('invalid-input', upstream, 'the file plays too long, or does not tell', { publicMessage });
}

const REFUSALS = [400, 403, 413, 415, 422];

function refusal(upstream: string, response: UpstreamResponse, publicMessage: string): UpstreamProblem {
  const answer = response.json();
  const problem = errorProblem(upstream, response.status, answer);
  if (problem.failure !== 'failed') return problem;
  // An account without money is refused as if the request were wrong.
  const { message, providerMessage } = problem;
  if (/billing|quota/i.test(providerMessage ?? ''))
    return new UpstreamProblem('unavailable', upstream, message, { providerMessage });
  if (!isOfRequest(response.status, answer)) return problem;
  return new UpstreamProblem('invalid-input', upstream, message, {
    status: response.status,
    publicMessage,
    providerMessage,
  });
}

const asNumber = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

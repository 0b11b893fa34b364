/**
 * OpenAI's image generation, which answers bytes, and transcription. Both are made from the request's own bytes.
 * Read on 2026-11-22 in the types of `openai` 6.49.0 (resources/images, resources/audio/transcriptions).
 */
import type { ModelFile, Upstream } from '../../catalogue/types.ts';
import { digest, seeded } from '../../examples/seed.ts';
import { mediaDuration } from '../../upstream/media/facts.ts';
import { sniffMediaType } from '../../upstream/media/type.ts';
import { filePath, makeFile } from '../files/index.ts';
import {
  type Double,
  type DoubleAnswer,
  type DoubleKind,
  type DoubleRequest,
  hasBearerKey,
  jsonAnswer,
  jsonBody,
} from './double.ts';

export const openaiMediaDouble: DoubleKind = { adapter: 'openai-media', open };

const sentences = [
  'Good evening, and welcome to the harbour.',
  'The last ferry leaves at a quarter past nine.',
  'Please keep your tickets until you reach the other side.',
  'Thank you for waiting, and mind the step.',
] as const;

const sizes: ReadonlySet<unknown> = new Set(['1024x1024', '1536x1024', '1024x1536']);
const qualities: ReadonlySet<unknown> = new Set(['low', 'medium', 'high', 'auto']);

function open(upstream: Upstream): Double {
  const models = Object.values(upstream.models ?? {});
  return {
    unauthorized(request) {
      if (hasBearerKey(request)) return undefined;
      return jsonAnswer(401, errorBody('Incorrect API key provided.', 'invalid_request_error', 'invalid_api_key'));
    },
    isBilled: ({ method, path }) =>
      method === 'POST' && (path === '/images/generations' || path === '/audio/transcriptions'),
    async answer(request) {
      const answer = await answerOf(request, models);
      return {
        ...answer,
        headers: { ...answer.headers, 'x-request-id': `req_${digest(request.body.toString('latin1'))}` },
      };
    },
    errorBody: (status) =>
      status === 429
        ? errorBody('Rate limit reached for requests', 'requests', 'rate_limit_exceeded')
        : errorBody('The server had an error while processing your request', 'server_error', null),
    refuse: () =>
      jsonAnswer(400, errorBody('Your request was rejected by the safety system.', 'user_error', 'moderation_blocked')),
  };
}

async function answerOf(request: DoubleRequest, models: readonly ModelFile[]): Promise<DoubleAnswer> {
  switch (`${request.method} ${request.path}`) {
    case 'POST /images/generations':
      return await generate(jsonBody(request), models);
    case 'POST /audio/transcriptions':
      return await transcribe(request, models);
    default:
      return refuse(404, `Unknown request URL: ${request.method} ${request.path}.`, null);
  }
}

const errorBody = (message: string, type: string, code: string | null) => ({
  error: { message, type, param: null, code },
});

const refuse = (status: number, message: string, code: string | null): DoubleAnswer =>
  jsonAnswer(status, errorBody(message, 'invalid_request_error', code));

const unknownModel = (model: unknown, models: readonly ModelFile[]): DoubleAnswer | undefined =>
  models.length === 0 || models.some(({ id }) => id === model)
    ? undefined
    : refuse(404, `The model '${String(model)}' does not exist`, 'model_not_found');

async function generate(body: Record<string, unknown>, models: readonly ModelFile[]): Promise<DoubleAnswer> {
  const { model, prompt, size = '1024x1024', quality = 'auto' } = body;
  const unknown = unknownModel(model, models);
  if (unknown) return unknown;
  if (typeof prompt !== 'string' || prompt === '') {
    return refuse(400, "Missing required parameter: 'prompt'.", 'missing_required_parameter');
  }
  if (!sizes.has(size)) return refuse(400, `Invalid value: '${String(size)}' for 'size'.`, 'invalid_value');
  if (!qualities.has(quality)) return refuse(400, `Invalid value: '${String(quality)}'.`, 'invalid_value');
  const [width = 1024, height = 1024] = String(size).split('x').map(Number);
  const plan = {
    kind: 'picture',
    seed: digest(JSON.stringify(body)),
    width,
    height,
    label: prompt,
    format: 'png',
  } as const;
  const file = await makeFile(filePath(plan));
  const textTokens = Math.ceil(prompt.length / 4);
  const tokens = {
    input_tokens: textTokens,
    input_tokens_details: { text_tokens: textTokens, image_tokens: 0 },
    output_tokens: 1056,
  };
  return jsonAnswer(200, {
    created: Math.floor(Date.now() / 1000),
    data: [{ b64_json: file?.bytes.toString('base64') }],
    size,
    quality: quality === 'auto' ? 'medium' : quality,
    output_format: 'png',
    background: 'opaque',
    usage: { ...tokens, total_tokens: tokens.input_tokens + tokens.output_tokens },
  });
}

async function transcribe(request: DoubleRequest, models: readonly ModelFile[]): Promise<DoubleAnswer> {
  const type = String(request.headers['content-type']);
  const form = await new Response(new Uint8Array(request.body), { headers: { 'content-type': type } })
    .formData()
    .catch(() => undefined);
  const [model, file, language, format] = ['model', 'file', 'language', 'response_format'].map((name) =>
    form?.get(name),
  );
  const unknown = unknownModel(model, models);
  if (unknown) return unknown;
  if (!(file instanceof File)) return refuse(400, "Missing required parameter: 'file'.", 'missing_required_parameter');
  const bytes = Buffer.from(await file.arrayBuffer());
  const kind = sniffMediaType(bytes)?.kind;
  if (kind !== 'audio' && kind !== 'video') {
    return refuse(400, 'Audio file might be corrupted or unsupported', 'invalid_value');
  }
  if (typeof language === 'string' && !/^[a-z]{2}$/.test(language)) {
    return refuse(
      400,
      `Invalid language '${language}'. Language parameter must be specified in ISO-639-1 format.`,
      null,
    );
  }
  const random = seeded(digest(bytes.toString('latin1')));
  const text = Array.from({ length: random.integer(1, 3) }, () => random.pick(sentences)).join(' ');
  const seconds = mediaDuration(bytes) ?? 1;
  const usage = { type: 'duration', seconds: Math.ceil(seconds) };
  return format === 'verbose_json'
    ? jsonAnswer(200, { task: 'transcribe', language: 'english', duration: seconds, text, segments: [], usage })
    : jsonAnswer(200, { text, usage });
}

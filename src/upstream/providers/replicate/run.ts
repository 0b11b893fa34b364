/** One run of a model on Replicate: from a request's fields to the file that it made. */
import type { Input, Model } from '../../../catalogue/types.ts';
import type { CallContext, ModelBinding } from '../../adapter.ts';
import { type InputMapping, mapInput } from '../../input-mapping.ts';
import type { MediaResultOptions } from '../../media/results.ts';
import type { StoredMedia } from '../../media/store.ts';
import type { MediaKind } from '../../media/type.ts';
import { UpstreamProblem } from '../../problem.ts';
import { type Prediction, predict } from './client.ts';

export type PredictionOptions = MediaResultOptions & {
  readonly result: 'image' | 'video' | 'music';
  readonly input: InputMapping;
  /** Sent with every request, over what the mapping gives. */
  readonly fixed?: { readonly [providerField: string]: unknown };
};

/** As an endpoint or a recipe's role uses it. */
type PredictionBinding = ModelBinding<Partial<PredictionOptions>>;

/** What a model's entry in `upstreams.yaml` may say of it. */
interface PredictionModel extends Model {
  readonly kind?: MediaKind;
  /** Least numbers that the provider takes: smaller requests are raised to them. */
  readonly minimums?: { readonly [providerField: string]: number };
  /** Sent where the request leaves the field out. */
  readonly defaults?: { readonly [providerField: string]: unknown };
}

/** `asked` is what the caller wants in the provider's words, `sent` the same within what the model takes. */
export function providerInput(input: Input, binding: PredictionBinding) {
  const { minimums = {}, defaults = {} }: PredictionModel = binding.model;
  // A recipe's role may leave the mapping out.
  const mapping = binding.options.input ?? { prompt: 'prompt', aspect_ratio: 'aspect_ratio' };
  const asked: Record<string, unknown> = { ...defaults, ...mapInput(mapping, input), ...binding.options.fixed };
  const sent = { ...asked };
  for (const [field, least] of Object.entries(minimums)) {
    if (typeof sent[field] === 'number') sent[field] = Math.max(sent[field], least);
  }
  return { asked, sent };
}

/** Makes what is to be sent, once for a payment. Throws UpstreamProblem. */
export const predictOnce = (
  binding: PredictionBinding,
  sent: Readonly<Record<string, unknown>>,
  context: CallContext,
): Promise<Prediction> =>
  context.once([binding.http.baseUrl, binding.model.id, sent], (job) => predict(binding, sent, context, job));

/** Copies the first file of a prediction into the media store. Throws UpstreamProblem. */
export async function keep(
  prediction: Prediction,
  kind: MediaKind,
  binding: PredictionBinding,
  context: CallContext,
): Promise<StoredMedia> {
  const { upstream } = binding;
  const first = prediction.outputs[0];
  if (first === undefined) {
    throw new UpstreamProblem('malformed', upstream, 'the prediction made no file', {
      providerMessage: `prediction ${prediction.id}`,
    });
  }
  return await context.media.copy(first, kind, { upstream, signal: context.signal });
}

/** What a recipe can ask for of an image. */
export const drawn = ['prompt', 'aspect_ratio', 'referenceImage'] as const;

/** An image for a recipe, kept in the media store. The role's `input` maps these names to the provider's. */
export async function drawImage(
  binding: PredictionBinding,
  request: { prompt: string; aspect_ratio?: string; referenceImage?: readonly string[] },
  context: CallContext,
): Promise<StoredMedia> {
  const { sent } = providerInput(request, binding);
  return await keep(await predictOnce(binding, sent, context), 'image', binding, context);
}

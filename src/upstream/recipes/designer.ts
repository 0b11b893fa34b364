import type { Request, Result } from '../../../generated/endpoints/image/designer.ts';
import { defineRecipe } from '../adapter.ts';
import { imageSize } from '../media/facts.ts';
import { type ChatModel, withImages } from '../providers/openai/chat.ts';
import { openaiChat } from '../providers/openai/chat-adapter.ts';
import { structured } from '../providers/openai/structured.ts';
import { replicatePredictions } from '../providers/replicate/adapter.ts';
import { drawImage } from '../providers/replicate/run.ts';

/** An image from a prompt that a model has worked out first, with the caller's style and reference images. */
export const designer = defineRecipe({
  name: 'designer',
  options: { type: 'object', properties: {} },
  reads: { prompt: 'string', style: 'string[]?', aspect_ratio: 'string', referenceImage: 'string[]?' },
  roles: { words: [openaiChat], images: [replicatePredictions] },
  async call(request: Request, { words, images }, context): Promise<Result> {
    const { prompt, style = [], aspect_ratio, referenceImage = [] } = request;
    const model: ChatModel = words.model;
    const brief = JSON.stringify({ prompt, style, aspect_ratio });
    const seen = model.supportsImageUrl === false ? [] : referenceImage;
    const messages = [
      { role: 'system', content: instructions },
      { role: 'user', content: withImages(brief, seen) },
    ];
    const answer = await structured<{ refined_prompt: string }>(
      words,
      { name: 'refined_prompt', schema: promptSchema, messages },
      context,
    );
    const refined = withStyle(answer.refined_prompt, style);
    const image = await drawImage(images, { prompt: refined, aspect_ratio, referenceImage }, context);
    return {
      image_url: image.url,
      image_description: refined,
      metadata: {
        model: images.model.name,
        prompt_model: model.name,
        parameters: { style, aspect_ratio },
        aspect_ratio,
        ...imageSize(image.bytes),
        reference_images: referenceImage,
      },
    };
  },
});

const instructions =
  'You are a designer who writes prompts for an image model. The message holds what a client wants, as JSON, and the ' +
  "client's reference images. Write one prompt that a painter could work from: subject, setting, composition for the " +
  'aspect ratio, light, colour, material. Blend every style keyword in by its name. Where there are reference images, ' +
  'say what to keep of them. Add no lettering that is not asked for.';

const promptSchema = {
  type: 'object',
  required: ['refined_prompt'],
  additionalProperties: false,
  properties: { refined_prompt: { type: 'string', minLength: 1, maxLength: 4000 } },
} as const;

/** The caller's keywords are part of what it pays for: those that the model left out are added. */
function withStyle(prompt: string, style: readonly string[]): string {
  const left = style.filter((keyword) => !prompt.toLowerCase().includes(keyword.toLowerCase()));
  return left.length === 0 ? prompt : `${prompt.trim().replace(/[.]?$/, '.')} Style: ${left.join(', ')}.`;
}

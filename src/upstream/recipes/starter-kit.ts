import type { Request, Result } from '../../../generated/endpoints/token/starter-kit.ts';
import { type CallContext, defineRecipe } from '../adapter.ts';
import { jupiterData } from '../providers/jupiter/adapter.ts';
import type { JupiterBinding } from '../providers/jupiter/client.ts';
import { type ChatBinding, type ChatModel, withImages } from '../providers/openai/chat.ts';
import { openaiChat } from '../providers/openai/chat-adapter.ts';
import { structured } from '../providers/openai/structured.ts';
import { replicatePredictions } from '../providers/replicate/adapter.ts';
import { drawImage } from '../providers/replicate/run.ts';
import { findToken } from './find-token.ts';

interface KitWords {
  token_name: string;
  token_ticker: string;
  token_description: string;
  logo_prompt: string;
  banner_prompt: string;
}

/** A name, ticker and description for a new token, with a logo and a banner. */
export const starterKit = defineRecipe({
  name: 'starter-kit',
  options: { type: 'object', properties: {} },
  reads: { prompt: 'string', ca_reference: 'string?' },
  roles: { tokens: [jupiterData], words: [openaiChat], images: [replicatePredictions] },
  async call({ prompt, ca_reference: reference }: Request, { tokens, words, images }, context): Promise<Result> {
    const style = reference === undefined ? undefined : await logoStyle(reference, tokens, words, context);
    const kit = await kitWords(prompt, style?.description, words, context);
    const referenceImage = style?.icon ? { referenceImage: [style.icon] } : {};
    const draw = (what: string, aspect_ratio: string) =>
      drawImage(
        images,
        { prompt: style ? `${what}. Style: ${style.description}` : what, aspect_ratio, ...referenceImage },
        context,
      );
    const [logo, banner] = await Promise.all([draw(kit.logo_prompt, '1:1'), draw(kit.banner_prompt, '21:9')]);
    return {
      token_name: kit.token_name,
      token_ticker: kit.token_ticker.replace('$', '').toUpperCase(),
      token_description: kit.token_description,
      logo_url: logo.url,
      banner_url: banner.url,
    };
  },
});

/** What the logo of a token looks like. Throws UpstreamProblem `not-found` for an unknown token. */
async function logoStyle(mint: string, tokens: JupiterBinding, words: ChatBinding, context: CallContext) {
  const { icon, name } = await findToken(mint, tokens, context);
  const model: ChatModel | undefined = words.model;
  if (icon === undefined || model?.supportsImageUrl === false) return { icon, description: `like the logo of ${name}` };
  const asked =
    'Describe the style of this logo in one sentence for an illustrator: technique, colours, mood. Not what it shows.';
  const messages = [{ role: 'user', content: withImages(asked, [icon]) }];
  const { style } = await structured<{ style: string }>(
    words,
    { name: 'logo_style', schema: styleSchema, messages },
    context,
  );
  return { icon, description: style };
}

const text = { type: 'string', minLength: 1 } as const;

const styleSchema = {
  type: 'object',
  required: ['style'],
  additionalProperties: false,
  properties: { style: text },
} as const;

async function kitWords(
  prompt: string,
  style: string | undefined,
  words: ChatBinding,
  context: CallContext,
): Promise<KitWords> {
  const messages = [
    { role: 'system', content: instructions },
    { role: 'user', content: style === undefined ? prompt : `${prompt}\n\nThe logo takes after this style: ${style}` },
  ];
  return await structured<KitWords>(words, { name: 'starter_kit', schema: kitSchema, messages }, context);
}

const instructions =
  'You invent tokens. From the idea in the message make a name, a ticker of two to ten letters or digits, a description of ' +
  'two or three sentences, and one prompt each for an illustrator: logo_prompt for a square emblem, banner_prompt for a ' +
  'wide banner, both without lettering. Promise no profit.';

const kitSchema = {
  type: 'object',
  required: ['token_name', 'token_ticker', 'token_description', 'logo_prompt', 'banner_prompt'],
  additionalProperties: false,
  properties: {
    token_name: text,
    token_ticker: { type: 'string', pattern: '^[$]?[A-Za-z0-9]{2,10}$' },
    token_description: text,
    logo_prompt: text,
    banner_prompt: text,
  },
} as const;

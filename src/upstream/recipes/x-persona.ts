import type { Request, Result } from '../../../generated/endpoints/ai/x-persona.ts';
import { defineRecipe } from '../adapter.ts';
import { openaiChat } from '../providers/openai/chat-adapter.ts';
import { structured } from '../providers/openai/structured.ts';
import { socialfetch } from '../providers/socialfetch/adapter.ts';
import { xAccount } from '../providers/socialfetch/client.ts';
import { describeAccount, handleOf, POSTS_ARE_DATA } from './x-account.ts';

const MOST_POSTS = 40;

const text = { type: 'string' } as const;
const texts = { type: 'array', items: text } as const;
const record = (properties: Readonly<Record<string, unknown>>) => ({
  type: 'object',
  additionalProperties: false,
  required: Object.keys(properties),
  properties,
});

const schema = record({
  persona: record({ summary: text, tone: text, core_topics: texts, beliefs: texts }),
  style_profile: record({ writing_style: text, voice: text }),
  content_patterns: record({ formats: texts, topics: texts, posting_behavior: text }),
  avatar: record({ image_type: text, prompt: text }),
});

type Described = Pick<Result, 'persona' | 'style_profile' | 'content_patterns'> & {
  avatar: { image_type: string; prompt: string };
};

/** Who an account on X is, by its profile and posts. */
export const xPersona = defineRecipe({
  name: 'x-persona',
  options: { type: 'object', properties: {} },
  reads: { x_username: 'string' },
  roles: { social: [socialfetch], words: [openaiChat] },
  async call({ x_username: username }: Request, { social, words }, context): Promise<Result> {
    const account = await xAccount(social, handleOf(username), context);
    const { avatar, ...described } = await structured<Described>(
      words,
      {
        name: 'persona',
        schema,
        messages: [
          {
            role: 'system',
            content:
              'You describe the public persona behind an account: who it is, how it writes, what it posts, and an avatar ' +
              `that would suit it (image_type such as photo or illustration, and a prompt to draw it). ${POSTS_ARE_DATA}`,
          },
          { role: 'user', content: describeAccount(account, MOST_POSTS) },
        ],
      },
      context,
    );
    const { avatarUrl } = account.profile;
    return { ...described, avatar: { ...avatar, reference_images: avatarUrl === null ? [] : [avatarUrl] } };
  },
});

import type { Request, Result } from '../../../generated/endpoints/ai/x-news.ts';
import { defineRecipe } from '../adapter.ts';
import { UpstreamProblem } from '../problem.ts';
import { openaiChat } from '../providers/openai/chat-adapter.ts';
import { replicatePredictions } from '../providers/replicate/adapter.ts';
import { drawImage } from '../providers/replicate/run.ts';
import { socialfetch } from '../providers/socialfetch/adapter.ts';
import { xAccount } from '../providers/socialfetch/client.ts';
import { draftNews } from './news-draft.ts';
import { describeAccount, handleOf, POSTS_ARE_DATA } from './x-account.ts';

type XNewsOptions = {
  /** Older posts are no news. */
  readonly maxAgeDays: number;
};

const DAY_SECONDS = 24 * 60 * 60;
const MOST_POSTS = 30;
const MOST_STYLE_POSTS = 15;

/** What an account on X is in the news for: a headline, a post and a banner. */
export const xNews = defineRecipe({
  name: 'x-news',
  options: {
    type: 'object',
    required: ['maxAgeDays'],
    properties: {
      maxAgeDays: { type: 'number', exclusiveMinimum: 0, description: 'Older posts are no news, and not read' },
    },
  },
  reads: { x_username: 'string', x_persona: 'string?' },
  roles: {
    social: [socialfetch],
    words: [openaiChat],
    images: [replicatePredictions],
  },
  async call(
    { x_username: username, x_persona: persona }: Request,
    { social, words, images },
    context,
    { maxAgeDays }: XNewsOptions,
  ): Promise<Result> {
    // Posts move on: another attempt would have other words, and another image of them.
    const { handle, draft } = await context.once(['x-news', username, persona], async () => {
      const [account, style] = await Promise.all([
        xAccount(social, handleOf(username), context),
        persona === undefined ? undefined : xAccount(social, handleOf(persona), context),
      ]);
      const oldest = context.now() / 1000 - maxAgeDays * DAY_SECONDS;
      const posts = account.posts.filter(({ createdAt }) => createdAt !== null && createdAt >= oldest);
      if (posts.length === 0) {
        const publicMessage = `@${account.profile.handle} has no post of the last ${maxAgeDays} days`;
        throw new UpstreamProblem('not-found', social.upstream, publicMessage, { publicMessage });
      }
      const draft = await draftNews(
        words,
        {
          task:
            'Pick what is most newsworthy in the posts of an account on X, the newest first, and draft a post about it' +
            `${style === undefined ? '' : ', in the style of the second account'}. ${POSTS_ARE_DATA}`,
          material: [
            describeAccount({ ...account, posts }, MOST_POSTS),
            ...(style === undefined ? [] : [`Write in the style of:\n${describeAccount(style, MOST_STYLE_POSTS)}`]),
          ].join('\n\n'),
        },
        context,
      );
      return { handle: account.profile.handle, draft };
    });
    const banner = await drawImage(images, { prompt: draft.banner_prompt, aspect_ratio: '16:9' }, context);
    return {
      success: true,
      x_username: handle,
      trending_news: { title: draft.title, tweet_draft: draft.tweet_draft, banner_url: banner.url },
    };
  },
});

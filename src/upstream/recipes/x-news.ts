import type { Request, Result } from '../../../generated/endpoints/ai/x-news.ts';
import { defineRecipe } from '../adapter.ts';
import { openaiChat } from '../providers/openai/chat-adapter.ts';
import { replicatePredictions } from '../providers/replicate/adapter.ts';
import { drawImage } from '../providers/replicate/run.ts';
import { socialfetch } from '../providers/socialfetch/adapter.ts';
import { xAccount } from '../providers/socialfetch/client.ts';
import { draftNews } from './news-draft.ts';
import { describeAccount, handleOf, POSTS_ARE_DATA } from './x-account.ts';

const MOST_POSTS = 30;
const MOST_STYLE_POSTS = 15;

/** What an account on X is in the news for: a headline, a post and a banner. */
export const xNews = defineRecipe({
  name: 'x-news',
  options: { type: 'object', properties: {} },
  roles: {
    social: [socialfetch],
    words: [openaiChat],
    images: [replicatePredictions],
  },
  async call(
    { x_username: username, x_persona: persona }: Request,
    { social, words, images },
    context,
  ): Promise<Result> {
    const [account, style] = await Promise.all([
      xAccount(social, handleOf(username), context),
      persona === undefined ? undefined : xAccount(social, handleOf(persona), context),
    ]);
    const draft = await draftNews(
      words,
      {
        task:
          'Pick what is most newsworthy in the posts of an account on X and draft a post about it' +
          `${style === undefined ? '' : ', in the style of the second account'}. ${POSTS_ARE_DATA}`,
        material: [
          describeAccount(account, MOST_POSTS),
          ...(style === undefined ? [] : [`Write in the style of:\n${describeAccount(style, MOST_STYLE_POSTS)}`]),
        ].join('\n\n'),
      },
      context,
    );
    const banner = await drawImage(images, { prompt: draft.banner_prompt, aspect_ratio: '16:9' }, context);
    return {
      success: true,
      x_username: account.profile.handle,
      trending_news: { title: draft.title, tweet_draft: draft.tweet_draft, banner_url: banner.url },
    };
  },
});

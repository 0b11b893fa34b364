/** A headline, a post and a banner's prompt from a model, within the bounds that news results keep. */
import type { CallContext } from '../adapter.ts';
import type { ChatBinding, ChatMessage } from '../providers/openai/chat.ts';
import { structured } from '../providers/openai/structured.ts';

const MOST_TITLE_WORDS = 4;
const LONGEST_POST = 280;

export interface NewsDraft {
  /** At most four words. */
  title: string;
  /** At most 280 characters. */
  tweet_draft: string;
  banner_prompt: string;
}

const text = { type: 'string' } as const;
const schema = {
  type: 'object',
  additionalProperties: false,
  required: ['title', 'tweet_draft', 'banner_prompt'],
  properties: { title: text, tweet_draft: text, banner_prompt: text },
} as const;

const RULES =
  `title has at most ${MOST_TITLE_WORDS} words, tweet_draft at most ${LONGEST_POST} characters, banner_prompt describes a ` +
  'wide image without text in it. Say nothing that the material does not say.';

/** What is too long goes back to the model once and is cut after that. Throws UpstreamProblem. */
export async function draftNews(
  words: ChatBinding,
  { task, material }: { task: string; material: string },
  context: Pick<CallContext, 'signal' | 'reportCost' | 'once'>,
): Promise<NewsDraft> {
  const messages: ChatMessage[] = [
    { role: 'system', content: `${task} ${RULES}` },
    { role: 'user', content: material },
  ];
  const ask = (conversation: readonly ChatMessage[]) =>
    structured<NewsDraft>(words, { name: 'news', schema, messages: conversation }, context);
  const first = await ask(messages);
  const faults = faultsOf(first);
  if (faults.length === 0) return cut(first);
  const reproach = `${faults.join(', and ')}. Answer again with the corrected JSON only.`;
  return cut(
    await ask([
      ...messages,
      { role: 'assistant', content: JSON.stringify(first) },
      { role: 'user', content: reproach },
    ]),
  );
}

const wordsOf = (title: string): string[] => title.trim().split(/\s+/);

function faultsOf({ title, tweet_draft: post }: NewsDraft): string[] {
  const count = wordsOf(title).length;
  return [
    ...(title.trim() === '' ? ['title is empty'] : []),
    ...(post.trim() === '' ? ['tweet_draft is empty'] : []),
    ...(count > MOST_TITLE_WORDS ? [`title has ${count} words and may have ${MOST_TITLE_WORDS}`] : []),
    ...(post.length > LONGEST_POST ? [`tweet_draft has ${post.length} characters and may have ${LONGEST_POST}`] : []),
  ];
}

function cut({ title, tweet_draft: post, banner_prompt }: NewsDraft): NewsDraft {
  return {
    title: wordsOf(title).slice(0, MOST_TITLE_WORDS).join(' '),
    tweet_draft: shorten(post.trim(), LONGEST_POST),
    banner_prompt,
  };
}

/** At most so many characters, ended at a word. */
export function shorten(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const start = text.slice(0, longest - 1);
  const end = start.lastIndexOf(' ');
  return `${(end > longest / 2 ? start.slice(0, end) : start).trimEnd()}…`;
}

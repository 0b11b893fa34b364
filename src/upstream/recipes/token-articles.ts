/** News on one token: sources look for a symbol, which others may have as well. */
import type { CallContext } from '../adapter.ts';
import { optionally } from '../optionally.ts';
import type { JupiterBinding, JupiterToken } from '../providers/jupiter/client.ts';
import type { OkxBinding } from '../providers/okx/client.ts';
import { newsOf, type TokenArticle } from '../providers/okx/token.ts';
import { isMeantBySymbol } from './find-token.ts';

const MOST_ARTICLES = 10;

/** A token's address on Solana or on an EVM chain. */
const ADDRESS = /\b(?:[1-9A-HJ-NP-Za-km-z]{32,44}|0x[0-9a-fA-F]{40})\b/g;

/** At most ten, the latest first; none where the source fails. A namesake's are left out. */
export async function articlesOn(
  token: JupiterToken,
  { tokens, news }: { tokens: JupiterBinding; news: OkxBinding },
  context: CallContext,
): Promise<TokenArticle[]> {
  const [found = [], isMeant] = await Promise.all([
    optionally(context, newsOf(token.symbol, MOST_ARTICLES, news, context)),
    isMeantBySymbol(token, tokens, context),
  ]);
  return found.filter((article) => isAbout(token, isMeant, article));
}

/** An article with addresses is about these; one without is about the token that its symbol means. */
function isAbout({ id, symbol, name }: JupiterToken, isMeant: boolean, { title, summary }: TokenArticle): boolean {
  const text = `${title} ${summary}`;
  const addresses: readonly string[] = text.match(ADDRESS) ?? [];
  if (addresses.length > 0) return addresses.includes(id);
  const words = text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .join(' ');
  return isMeant && [symbol, name].some((word) => ` ${words} `.includes(` ${word.toLowerCase()} `));
}

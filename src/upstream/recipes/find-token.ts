import type { CallContext } from '../adapter.ts';
import { optionally } from '../optionally.ts';
import { UpstreamProblem } from '../problem.ts';
import { type JupiterBinding, type JupiterToken, searchTokens } from '../providers/jupiter/client.ts';

const MINT = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

/**
 * The token that a mint address, symbol (with or without `$`) or name means: of several with the name the verified
 * one that is traded most. Throws UpstreamProblem `not-found`.
 */
export async function findToken(asked: string, tokens: JupiterBinding, context: CallContext): Promise<JupiterToken> {
  const name = asked.trim().replace(/^\$/, '');
  const found = await searchTokens(tokens, name, context);
  const same = (one: string): boolean => one.toLowerCase() === name.toLowerCase();
  const named = MINT.test(name)
    ? found.filter(({ id }) => id === name)
    : bestOf(
        found.filter(({ symbol }) => same(symbol)),
        found.filter((token) => same(token.name)),
        found,
      );
  const [best] = named.toSorted((one, other) => rank(other) - rank(one));
  if (best) return best;
  throw new UpstreamProblem('not-found', tokens.upstream, `finds no token ${name.slice(0, 100)}`, {
    publicMessage: `There is no token ${name.slice(0, 100)}`,
  });
}

/**
 * Whether what is said of the token's symbol is said of it: it is verified, and the one that the symbol means. Anybody can
 * give a token the symbol of another. Where nobody can tell, it is not.
 */
export async function isMeantBySymbol(
  { id, symbol, isVerified }: JupiterToken,
  tokens: JupiterBinding,
  context: CallContext,
): Promise<boolean> {
  if (isVerified !== true) return false;
  const meant = await optionally(context, findToken(symbol, tokens, context));
  return meant?.id === id;
}

const bestOf = (...choices: readonly JupiterToken[][]): JupiterToken[] =>
  choices.find((choice) => choice.length > 0) ?? [];

/** Anybody can give a token the name of another: only verification and then liquidity tell them apart. */
const rank = ({ isVerified, liquidity = 0 }: JupiterToken): number => (isVerified === true ? 1e15 : 0) + liquidity;

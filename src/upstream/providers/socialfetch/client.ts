/**
 * Social Fetch, API version 1: profiles and posts on X, products of TikTok Shop.
 * Source: socialfetch.dev/docs (errors, api/v1) and the routes of github social-freak-ltd/n8n-nodes-socialfetch.
 */
import { asJsonObject, isJsonObject, type JsonObject, secondsOrNull, textOrNull } from '../../../json.ts';
import type { Binding, CallContext } from '../../adapter.ts';
import { cutProviderText, UpstreamProblem } from '../../problem.ts';

export interface XProfile {
  /** Without `@`, spelt as its owner spells it. */
  readonly handle: string;
  readonly displayName: string | null;
  readonly bio: string | null;
  readonly avatarUrl: string | null;
}

export interface XPost {
  readonly text: string;
  readonly url: string | null;
  /** Seconds since the epoch. */
  readonly createdAt: number | null;
}

export type SocialBinding = Pick<Binding, 'upstream' | 'http'>;

/** An account and its posts, the newest first; the provider gives about 100 popular ones. Throws UpstreamProblem: `not-found`. */
export async function xAccount(
  binding: SocialBinding,
  handle: string,
  context: Pick<CallContext, 'signal'>,
): Promise<{ profile: XProfile; posts: XPost[] }> {
  const path = `/v1/twitter/profiles/${encodeURIComponent(handle)}`;
  const [{ profile, lookupStatus }, { tweets }] = await Promise.all([
    lookUp(binding, path, {}, context),
    lookUp(binding, `${path}/tweets`, { trim: true }, context),
  ]);
  const missing = (why: string) => {
    const publicMessage = `@${handle} ${why}`;
    return new UpstreamProblem('not-found', binding.upstream, publicMessage, { publicMessage });
  };
  if (lookupStatus === 'private') throw missing('is a private account');
  if (lookupStatus === 'not_found') throw missing('is not an account on X');
  const { handle: spelt, displayName, bio, avatarUrl, privateAccount } = asJsonObject(profile);
  if (privateAccount === true) throw missing('is a private account');
  if (typeof spelt !== 'string') {
    throw new UpstreamProblem('malformed', binding.upstream, `${path} answered no profile`);
  }
  const posts = (Array.isArray(tweets) ? tweets : []).flatMap(readPost);
  if (posts.length === 0) throw missing('has no public posts');
  posts.sort((one, other) => (other.createdAt ?? 0) - (one.createdAt ?? 0));
  return {
    profile: {
      handle: spelt,
      displayName: textOrNull(displayName),
      bio: textOrNull(bio),
      avatarUrl: textOrNull(avatarUrl),
    },
    posts,
  };
}

function readPost(tweet: unknown): XPost[] {
  const { text: short, fullText, url, createdAt } = asJsonObject(tweet);
  const written = textOrNull(fullText) ?? textOrNull(short);
  if (written === null) return [];
  return [{ text: written, url: textOrNull(url), createdAt: secondsOrNull(createdAt) }];
}

/** The envelope's data. A thing that does not exist is an answer: its `lookupStatus` is `not_found`. */
const lookUp = async (...request: Parameters<typeof lookUpWhole>): Promise<JsonObject> =>
  (await lookUpWhole(...request)).data;

/** The same, with `payload`: the answer as the provider gave it. */
export async function lookUpWhole(
  { upstream, http }: SocialBinding,
  path: string,
  query: Readonly<Record<string, string | number | boolean>>,
  { signal }: Pick<CallContext, 'signal'>,
): Promise<{ data: JsonObject; payload: JsonObject }> {
  const response = await http.request({ method: 'GET', path, query, signal, accept: [400, 404, 422] });
  const payload = asJsonObject(response.json());
  const { data, error, code } = payload;
  if (response.status < 400 && isJsonObject(data)) return { data, payload };
  const providerMessage = cutProviderText(textOrNull(asJsonObject(error).code) ?? textOrNull(code) ?? error);
  // A route that the provider no longer has answers 404 as well, and must not pass for a product that is gone.
  if (response.status === 404 && /not_?found/i.test(providerMessage) && !/route|endpoint|path/i.test(providerMessage)) {
    return { data: { lookupStatus: 'not_found' }, payload };
  }
  if (response.status < 400) throw new UpstreamProblem('malformed', upstream, `${path} answered no data`);
  const message = `${path} answered ${response.status}`;
  if (response.status === 404) throw new UpstreamProblem('failed', upstream, message, { status: 404, providerMessage });
  const publicMessage = 'The provider does not take these values';
  throw new UpstreamProblem('invalid-input', upstream, message, {
    status: response.status,
    publicMessage,
    providerMessage,
  });
}

/** Calls with an API key, by callers who may leave. */
import type { PaidCall } from '../../clients.ts';
import type { Scene } from '../attack.ts';
import type { Key } from '../ledger.ts';

/** A model at 1 and 6 dollars a million tokens. */
const MODEL = 'vendor3-5.6-luna';

export const bearer = ({ apiKey }: Key): Record<string, string> => ({ authorization: `Bearer ${apiKey}` });

export const completion = (scene: Scene, content: string, more: object): PaidCall => ({
  url: `${scene.gateway.url}/v1/chat/completions`,
  init: {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: MODEL, messages: [{ role: 'user', content }], ...more }),
  },
});

/** Sends the call and leaves once `enough` says so of what came, or after so many milliseconds. */
export async function leave(
  { account }: Scene,
  key: Key,
  { url, init }: PaidCall,
  until: { readonly ms: number } | { enough(text: string): boolean },
): Promise<void> {
  account.calls += 1;
  const leaving = new AbortController();
  const timer = 'ms' in until ? setTimeout(() => leaving.abort(), until.ms) : undefined;
  const headers = { ...(init.headers as Record<string, string>), ...bearer(key) };
  try {
    const answer = await fetch(url, { ...init, headers, signal: leaving.signal });
    let text = '';
    const decoder = new TextDecoder();
    for await (const piece of answer.body ?? []) {
      text += decoder.decode(piece, { stream: true });
      if ('enough' in until && until.enough(text)) leaving.abort();
    }
    account.answered(String(answer.status));
  } catch (error) {
    if (!leaving.signal.aborted) throw error;
    account.answered('left');
  } finally {
    clearTimeout(timer);
  }
}

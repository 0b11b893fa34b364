/** Requests of payers, and what came of them. */
import { Agent, request } from 'undici';

export interface Answer {
  readonly status: number;
  /** The problem's code; for a 402 its reason; `ok`. */
  readonly code: string;
  readonly text: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface Message {
  readonly url: string;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whoever sends it leaves when this aborts. */
  readonly signal?: AbortSignal | undefined;
}

export interface Sender {
  /** Throws where there is no whole answer: the gateway was killed, or the sender has left. `begun` hears of its beginning. */
  post(message: Message, begun?: (head: Pick<Answer, 'status' | 'headers'>) => void): Promise<Answer>;
  close(): Promise<void>;
}

/** Longer than a gateway is stopped for, and than any call takes. */
const TIMEOUT_MS = 20_000;

export function openSender(): Sender {
  const agent = new Agent({ keepAliveTimeout: 500, headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS });
  return {
    async post({ url, body, headers = {}, signal }, begun) {
      const answer = await request(url, {
        dispatcher: agent,
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
        ...(signal && { signal }),
      });
      const head = { status: answer.statusCode, headers: answer.headers };
      begun?.(head);
      const text = await answer.body.text();
      return { ...head, text, code: codeOf(head.status, text) };
    },
    close: () => agent.destroy(),
  };
}

function codeOf(status: number, text: string): string {
  if (status < 300) return 'ok';
  try {
    const { error, detail } = JSON.parse(text);
    return status === 402 && detail !== undefined ? String(detail) : String(error?.code);
  } catch {
    return text.slice(0, 100);
  }
}

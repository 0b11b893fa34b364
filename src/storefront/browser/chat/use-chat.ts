/** One conversation with the credits of a key. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { ChatProblem, complete, type Message, type Model, readBalance, readModels } from './api.ts';

interface Balance {
  /** Dollars, decimal; undefined: before the first answer. */
  readonly before: string | undefined;
  readonly now: string;
}

export interface Chat {
  readonly models: readonly Model[];
  readonly balance: Balance | undefined;
  readonly messages: readonly Message[];
  /** The answer as far as it is written; undefined: none is under way. */
  readonly writing: string | undefined;
  readonly problem: string | undefined;
  /** After models and balance could not be asked for; undefined: no need to. */
  readonly askAgain: (() => void) | undefined;
  /** True where it was answered, or stopped on the way; what nothing came of is no part of the conversation. */
  send(model: string, content: string): Promise<boolean>;
  stop(): void;
  clear(): void;
}

const inWords = (error: unknown): string =>
  error instanceof ChatProblem ? error.message : 'The page failed: load it again.';

/** `onRefused`: the key is not one. */
export function useChat(key: string, onRefused: (words: string) => void): Chat {
  const [models, setModels] = useState<readonly Model[]>([]);
  const [balance, setBalance] = useState<Balance>();
  const [messages, setMessages] = useState<readonly Message[]>([]);
  const [writing, setWriting] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const [isUnheard, setUnheard] = useState(false);
  const underWay = useRef<AbortController | undefined>(undefined);

  const failed = (error: unknown): void => {
    if (error instanceof ChatProblem && error.isKeyAtFault) onRefused(error.message);
    else setProblem(inWords(error));
  };

  const look = (): void => {
    setUnheard(false);
    setProblem(undefined);
    Promise.all([readModels(key), readBalance(key)]).then(
      ([found, now]) => {
        setModels(found);
        setBalance({ before: undefined, now });
      },
      (error: unknown) => {
        setUnheard(true);
        failed(error);
      },
    );
  };

  useEffect(() => {
    look();
    return () => underWay.current?.abort();
  }, [key]);

  async function answer(model: string, asked: readonly Message[], signal: AbortSignal): Promise<boolean> {
    let text = '';
    let isWhole = false;
    try {
      for await (const piece of complete(key, model, asked, signal)) {
        text += piece;
        setWriting(text);
      }
      isWhole = true;
    } catch (error) {
      if (!signal.aborted) failed(error);
    }
    const isBegun = isWhole || text !== '';
    setMessages(isBegun ? [...asked, { role: 'assistant', content: text }] : messages);
    return isWhole || (isBegun && signal.aborted);
  }

  return {
    models,
    balance,
    messages,
    writing,
    problem,
    askAgain: isUnheard ? look : undefined,
    async send(model, content) {
      if (underWay.current) return false;
      const controller = new AbortController();
      underWay.current = controller;
      const asked: readonly Message[] = [...messages, { role: 'user', content }];
      setProblem(undefined);
      setMessages(asked);
      setWriting('');
      const isAnswered = await answer(model, asked, controller.signal);
      setWriting(undefined);
      underWay.current = undefined;
      await readBalance(key).then((now) => setBalance((known) => ({ before: known?.now, now })), failed);
      return isAnswered;
    },
    stop: () => underWay.current?.abort(),
    clear: () => {
      setMessages([]);
      setProblem(undefined);
    },
  };
}

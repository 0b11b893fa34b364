/** Questions and answers between two processes, over the channel that Node gives a parent and its child. */

/** One end of the channel. What is sent is cloned, so that maps and NaN come as they were. */
export interface Channel {
  send(message: object): void;
  listen(heard: (message: unknown) => void): void;
}

/** What a side can be asked: question -> what answers it. */
type Questions<Asked> = {
  // biome-ignore lint/suspicious/noExplicitAny: whatever can be cloned may be asked with, and answered
  readonly [Name in keyof Asked]: (given: any) => Promise<any>;
};

export interface Line<Asked extends Questions<Asked>> {
  /** Rejects with the other side's own words where it fails, and where it says nothing for that long. */
  ask<Name extends keyof Asked & string>(
    name: Name,
    given?: Parameters<Asked[Name]>[0],
    limitMs?: number,
  ): ReturnType<Asked[Name]>;
}

type Message =
  | { readonly question: string; readonly id: number; readonly given: unknown }
  | { readonly answered: number; readonly value?: unknown; readonly fault?: string };

/** Nobody is asked for what takes longer, unless it is said. */
const LIMIT_MS = 5_000;

/** Answers what the other side asks, from now on, and asks it in turn. */
export function openLine<Own extends Questions<Own>, Other extends Questions<Other>>(
  channel: Channel,
  own: Own,
): Line<Other> {
  const waiting = new Map<number, (answer: { value?: unknown; fault?: string }) => void>();
  const answers = own as Readonly<Record<string, (given: unknown) => Promise<unknown>>>;
  let last = 0;

  async function answer(question: string, id: number, given: unknown): Promise<void> {
    try {
      channel.send({ answered: id, value: await answers[question]?.(given) });
    } catch (error) {
      channel.send({ answered: id, fault: error instanceof Error ? error.message : String(error) });
    }
  }

  channel.listen((received) => {
    const message = received as Message;
    if ('question' in message) answer(message.question, message.id, message.given);
    else if ('answered' in message) waiting.get(message.answered)?.(message);
  });

  function ask(question: string, given: unknown, limitMs: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      last += 1;
      const id = last;
      const settle = ({ value, fault }: { value?: unknown; fault?: string }) => {
        clearTimeout(timer);
        waiting.delete(id);
        if (fault === undefined) resolve(value);
        else reject(new Error(fault));
      };
      const late = () => settle({ fault: `${question} was not answered within ${limitMs} ms` });
      const timer = setTimeout(late, limitMs).unref();
      waiting.set(id, settle);
      channel.send({ question, id, given });
    });
  }
  return {
    ask: (name, given, limitMs = LIMIT_MS) => ask(name, given, limitMs) as ReturnType<Other[typeof name]>,
  };
}

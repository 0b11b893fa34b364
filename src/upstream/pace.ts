/**
 * How fast the models of one upstream write, so that none is asked for more than a deadline lets it finish: what is
 * unfinished then is lost, what is cut at a bound is sold. Prices never depend on it.
 */
export interface Pace {
  /** The most output tokens that a model is likely to write in so many milliseconds. */
  mostTokens(model: string, withinMs: number): number;
  /** A call of `caller`'s for which the model read a prompt and wrote so many tokens in so many milliseconds, waiting included. */
  observe(model: string, call: { caller: string; promptTokens: number; tokens: number; ms: number }): void;
}

/** Tokens a second of a model that was not measured yet: what the shipped tiers and deadlines go well with. */
const UNMEASURED = 200;

/** The rest of the time is for the prompt, the network and a slow day. */
const SHARE_OF_TIME = 0.9;

/** Shorter answers say more of the wait before the first token than of the pace. */
const TELLING_TOKENS = 256;

/**
 * Models read some fifty tokens in the time that they write one. Of an answer to a longer prompt than this many times
 * its own length the time is the reading's: a stranger could make a model look slow to all by what it sends.
 */
const MOST_READ_FOR_EACH = 8;

/** However slow a model is measured, so much is asked for. */
const LEAST_TOKENS = 256;

const REMEMBERED = 16;

/** The lower median of the last calls, one for each caller: nobody alone makes a model look slow or fast to others. */
export function openPace(): Pace {
  const measured = new Map<string, Map<string, number>>();

  function tokensPerSecond(model: string): number {
    const speeds = [UNMEASURED, UNMEASURED, ...(measured.get(model)?.values() ?? [])].sort((one, two) => one - two);
    return speeds[Math.floor((speeds.length - 1) / 2)] ?? UNMEASURED;
  }

  return {
    mostTokens(model, withinMs) {
      const tokens = Math.floor((tokensPerSecond(model) * SHARE_OF_TIME * Math.max(0, withinMs)) / 1000);
      return Math.max(LEAST_TOKENS, tokens);
    },
    observe(model, { caller, promptTokens, tokens, ms }) {
      if (tokens < TELLING_TOKENS || promptTokens > tokens * MOST_READ_FOR_EACH) return;
      const speeds = measured.get(model) ?? new Map<string, number>();
      measured.set(model, speeds);
      speeds.delete(caller);
      speeds.set(caller, (tokens * 1000) / Math.max(1, ms));
      const [oldest] = speeds.keys();
      if (speeds.size > REMEMBERED && oldest !== undefined) speeds.delete(oldest);
    },
  };
}

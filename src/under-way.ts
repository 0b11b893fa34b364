/** What has begun and not ended yet, whether or not somebody still waits for it. */
export interface UnderWay {
  /** Answers the same promise. */
  add<Value>(work: Promise<Value>): Promise<Value>;
  /** Resolves once nothing is under way. */
  idle(): Promise<void>;
}

export function openUnderWay(): UnderWay {
  const running = new Set<Promise<unknown>>();
  return {
    add(work) {
      running.add(work);
      const ended = () => void running.delete(work);
      work.then(ended, ended);
      return work;
    },
    async idle() {
      while (running.size > 0) await Promise.allSettled(running);
    },
  };
}

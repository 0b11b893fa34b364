import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { Fault, read } from '../api.ts';

const EVERY_MS = 15_000;
const AFTER_FAULT_MS = 5_000;

export interface Polled<Data> {
  readonly data: Data | undefined;
  /** When `data` was read, in milliseconds since the epoch. */
  readonly at: number | undefined;
  /** Why the last attempt failed; `data` is what was read before it. */
  readonly fault: Fault | undefined;
  /** True while what is shown belongs to another question. */
  readonly isStale: boolean;
  reload(): void;
  /** Shows an answer that came another way. */
  replace(data: Data): void;
}

interface Known<Data> {
  readonly key?: string;
  readonly data?: Data;
  readonly at?: number;
  readonly fault?: Fault | undefined;
}

/**
 * Reads `url()` now, every fifteen seconds and sooner after a fault, but not while nobody looks at the tab. `key` tells
 * questions apart: addresses of the same question may differ, for its period moves on.
 */
export function usePolled<Data>(key: string, url: () => string): Polled<Data> {
  const [known, setKnown] = useState<Known<Data>>({});
  const latestUrl = useRef(url);
  latestUrl.current = url;
  const again = useRef(() => {});
  // What was asked before an answer came another way may be what was before it.
  const replaced = useRef(0);

  useEffect(() => {
    let isOver = false;
    let isReading = false;
    let isWantedAgain = false;
    let timer = 0;
    const load = async (): Promise<void> => {
      clearTimeout(timer);
      isWantedAgain = isReading;
      if (isReading) return;
      isReading = true;
      const before = replaced.current;
      let fault: Fault | undefined;
      try {
        const data = await read<Data>(latestUrl.current());
        if (!isOver && before === replaced.current) setKnown({ key, data, at: Date.now() });
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        fault = error;
        if (!isOver) setKnown((last) => ({ ...last, fault }));
      }
      isReading = false;
      if (isOver || document.hidden) return;
      if (isWantedAgain) await load();
      else timer = window.setTimeout(load, fault ? AFTER_FAULT_MS : EVERY_MS);
    };
    const onVisibility = (): void => {
      if (document.hidden) clearTimeout(timer);
      else void load();
    };
    again.current = () => void load();
    document.addEventListener('visibilitychange', onVisibility);
    window.addEventListener('online', again.current);
    void load();
    const online = again.current;
    return () => {
      isOver = true;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', onVisibility);
      window.removeEventListener('online', online);
    };
  }, [key]);

  return {
    data: known.data,
    at: known.at,
    fault: known.fault,
    isStale: known.key !== key,
    reload: useCallback(() => again.current(), []),
    replace: useCallback(
      (data: Data) => {
        replaced.current += 1;
        setKnown({ key, data, at: Date.now() });
        again.current();
      },
      [key],
    ),
  };
}

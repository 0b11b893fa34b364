import { useRef, useState } from 'preact/hooks';
import { Fault } from '../api.ts';

export interface Action {
  readonly isUnderWay: boolean;
  readonly fault: Fault | undefined;
  /** Does it, unless it is being done already: a second click comes to nothing. True where it went well. */
  run(act: () => Promise<void>): Promise<boolean>;
  clear(): void;
}

/** Something that is sent to the gateway once. */
export function useAction(): Action {
  const [isUnderWay, setUnderWay] = useState(false);
  const [fault, setFault] = useState<Fault>();
  // At once, where the state is there with the next drawing only.
  const isBusy = useRef(false);
  return {
    isUnderWay,
    fault,
    clear: () => setFault(undefined),
    run: async (act) => {
      if (isBusy.current) return false;
      isBusy.current = true;
      setUnderWay(true);
      setFault(undefined);
      try {
        await act();
        return true;
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        setFault(error);
        return false;
      } finally {
        isBusy.current = false;
        setUnderWay(false);
      }
    },
  };
}

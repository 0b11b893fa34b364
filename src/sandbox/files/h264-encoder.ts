import { createRequire } from 'node:module';
import type encoders from 'h264-mp4-encoder';

const EVENTS = ['uncaughtException', 'unhandledRejection'] as const;

let loaded: typeof encoders | undefined;

/**
 * The encoder, loaded for the first clip. It would decide what becomes of every uncaught error of the process: the
 * listeners that it brings are taken off again. Loading is synchronous, so no others come in between.
 */
export function loadEncoder(): typeof encoders {
  if (loaded) return loaded;
  const before = EVENTS.map((event) => process.rawListeners(event));
  loaded = createRequire(import.meta.url)('h264-mp4-encoder') as typeof encoders;
  for (const [index, event] of EVENTS.entries()) {
    for (const listener of process.rawListeners(event)) {
      if (!before[index]?.includes(listener)) process.off(event, listener as () => void);
    }
  }
  return loaded;
}

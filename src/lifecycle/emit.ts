import type { Route } from '../catalogue/types.ts';
import type { Receipt } from '../store/store.ts';
import { streamed } from './fulfil.ts';
import type { LiveAnswer } from './outcome.ts';

interface Streaming {
  readonly route: Route;
  /** The name of the rail. */
  readonly rail: string;
  readonly requestId: string;
  readonly live: LiveAnswer | undefined;
}

/** Passes on what comes of an answer that streams, once it is paid for; undefined where it is wanted whole. */
export function emitter(
  { route, rail, requestId, live }: Streaming,
  receipt: Receipt | undefined,
): ((text: string) => void) | undefined {
  if (!route.streams || !live || !receipt) return undefined;
  let hasBegun = false;
  return (text) => {
    if (!hasBegun) live.begin({ rail, answer: streamed(''), receipt, replayed: false, requestId });
    hasBegun = true;
    live.write(text);
  };
}

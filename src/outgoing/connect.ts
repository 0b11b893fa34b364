/** How connections of the gateway's own are made, as undici takes it. */
import dns, { type LookupOptions } from 'node:dns';
import type { LookupFunction } from 'node:net';

type Told = Parameters<LookupFunction>[2];

/** Those who wait, by what is looked up. */
const underWay = new Map<string, Told[]>();

/**
 * As the system looks names up, which it does two at a time: a name whose servers are silent would take both for every connection
 * that waits for it, and nobody else's name would be found meanwhile. So whoever asks for one that is being looked up is told with it.
 */
function lookup(hostname: string, options: LookupOptions, done: Told): void {
  const asked = JSON.stringify([hostname, options]);
  const others = underWay.get(asked);
  if (others) {
    others.push(done);
    return;
  }
  const waiting = [done];
  underWay.set(asked, waiting);
  dns.lookup(hostname, options, (...answer) => {
    underWay.delete(asked);
    for (const each of waiting) each(...answer);
  });
}

export const connect = { lookup };

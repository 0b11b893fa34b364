import type { Test } from 'tap';
import type { SoldTerms } from '../../src/catalogue/types.ts';
import { sandboxAttestationRoot } from '../../src/sandbox/doubles/tdx-hardware.ts';
import type { CallContext } from '../../src/upstream/adapter.ts';
import { NO_JOB } from '../../src/upstream/bought.ts';
import { openCache } from '../../src/upstream/cache.ts';
import { openDownloader } from '../../src/upstream/http/download.ts';
import { openDirectoryMediaStore } from '../../src/upstream/media/directory.ts';

export const PUBLIC_URL = 'https://gateway.example/media';

/** A real media store in a directory of the test's own, and a cache that lasts as long as the test. */
export function openCallContext(
  t: Test,
  options: {
    trustedOrigins?: readonly string[];
    originOf?: (upstream: string) => string | undefined;
    now?: () => number;
    readFrom?: (url: URL) => URL;
    terms?: SoldTerms;
    caller?: string;
    /** Default: longer than any test takes. */
    deadlineMs?: number;
  } = {},
): CallContext & { mediaDirectory: string; costs: string[] } {
  const { trustedOrigins = [], originOf, readFrom, terms } = options;
  const downloads = openDownloader({ trustedOrigins, ...(originOf && { originOf }), ...(readFrom && { readFrom }) });
  t.teardown(() => downloads.close());
  const mediaDirectory = t.testdir();
  const kept = new Map<string, { value: string; storedAt: number }>();
  const now = options.now ?? Date.now;
  const costs: string[] = [];
  return {
    endpoint: 'test/endpoint',
    network: 'chain-a',
    caller: options.caller ?? 'test-payer',
    signal: options.deadlineMs ? AbortSignal.timeout(options.deadlineMs) : new AbortController().signal,
    media: openDirectoryMediaStore({ directory: mediaDirectory, publicUrl: PUBLIC_URL, downloads }),
    once: (_order, make) => make(NO_JOB),
    downloads,
    cache: openCache({
      now,
      store: {
        cached: async (key, notBefore) => {
          const found = kept.get(key);
          return found && found.storedAt > notBefore ? found : undefined;
        },
        keep: async (key, value, storedAt) => void kept.set(key, { value, storedAt }),
      },
    }),
    terms,
    attestationRoot: sandboxAttestationRoot,
    paymentId: 'test-payment',
    credits: { buy: () => Promise.reject(new Error('this test sells no credits')) },
    reportCost: (dollars) => void costs.push(dollars),
    now,
    mediaDirectory,
    costs,
  };
}

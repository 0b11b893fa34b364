/** How much one caller may have the gateway read: so many files at a time, so many bytes in a minute. */
export interface DownloadAllowance {
  /** Throws AllowanceSpent. What it gives must be ended once. */
  begin(caller: string): {
    /** Counts bytes as they come. Throws AllowanceSpent. */
    take(bytes: number): void;
    end(): void;
  };
}

export interface DownloadAllowanceOptions {
  mostAtOnce: number;
  bytesPerMinute: number;
  /** Milliseconds, from any start. */
  now(): number;
}

/** The message is fit for a caller. */
export class AllowanceSpent extends Error {}

interface Use {
  since: number;
  bytes: number;
  atOnce: number;
}

const MINUTE_MS = 60_000;

export function openDownloadAllowance(options: DownloadAllowanceOptions): DownloadAllowance {
  const { mostAtOnce, bytesPerMinute, now } = options;
  /** By caller; whose minute began first comes first. */
  const uses = new Map<string, Use>();

  const isOver = ({ since }: Use): boolean => now() - since >= MINUTE_MS;

  function forgetIdle(): void {
    for (const [caller, use] of uses) {
      if (!isOver(use)) return;
      if (use.atOnce === 0) uses.delete(caller);
    }
  }

  function useOf(caller: string): Use {
    const known = uses.get(caller);
    if (known && !isOver(known)) return known;
    const use = known ?? { since: 0, bytes: 0, atOnce: 0 };
    use.since = now();
    use.bytes = 0;
    uses.delete(caller);
    uses.set(caller, use);
    return use;
  }

  function checkBytes({ bytes }: Use): void {
    if (bytes < bytesPerMinute) return;
    throw new AllowanceSpent(`More than ${bytesPerMinute} bytes of files in a minute: wait one, and send this again`);
  }

  return {
    begin(caller) {
      forgetIdle();
      const use = useOf(caller);
      if (use.atOnce >= mostAtOnce) {
        throw new AllowanceSpent(`At most ${mostAtOnce} files are read for you at a time: send this again in a moment`);
      }
      checkBytes(use);
      use.atOnce += 1;
      return {
        take(bytes) {
          const current = useOf(caller);
          checkBytes(current);
          current.bytes += bytes;
        },
        end() {
          use.atOnce -= 1;
        },
      };
    },
  };
}

/** Tells a client that asked for it that a call is still being worked on: most give up after a minute of silence. */
import type { ServerContext } from '@modelcontextprotocol/server';

const EVERY_MS = 3_000;

export async function withProgress<Result>({ mcpReq }: ServerContext, work: () => Promise<Result>): Promise<Result> {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return await work();
  let progress = 0;
  const timer = setInterval(() => {
    progress += EVERY_MS / 1000;
    const params = { progressToken, progress, message: `Under way for ${progress} s` };
    // Who has left comes back for the answer.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
  }, EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

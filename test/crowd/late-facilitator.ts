/** A facilitator over HTTP, on one network, that refuses to settle for some payers and carries it out later. */
import { setTimeout as delay } from 'node:timers/promises';
import { remoteFacilitator } from '../../src/payment/facilitators/remote.ts';
import type { Sandbox } from '../../src/sandbox/index.ts';
import { front, serve } from '../payment/facilitators/front.ts';

const LATE_BY_MS = 3_000;

interface LateFacilitator extends Pick<Sandbox, 'facilitators'> {
  stop(): Promise<void>;
}

/** The sandbox's own settles everywhere but on `network` (CAIP-2). `refused`: payers, in lower case. */
export async function lateFacilitator(
  { facilitators }: Pick<Sandbox, 'facilitators'>,
  network: string,
  refused: ReadonlySet<string>,
): Promise<LateFacilitator> {
  const [own] = facilitators;
  if (!own) throw new Error('the sandbox has no facilitator');
  const { facilitator } = own;
  const late = new Set<Promise<unknown>>();
  const server = await serve(
    front({
      ...facilitator,
      async settle(payload, requirements, signal) {
        const { from } = (payload as { payload: { authorization: { from: string } } }).payload.authorization;
        if (!refused.has(from.toLowerCase())) return facilitator.settle(payload, requirements, signal);
        late.add(delay(LATE_BY_MS).then(() => facilitator.settle(payload, requirements)));
        return { state: 'refused', reason: 'transaction_failed' };
      },
    }),
  );
  const remote = remoteFacilitator({ url: server.url });
  const supported = async () => (await facilitator.supported()).filter((kind) => kind.network !== network);
  return {
    facilitators: [
      { ...own, facilitator: { ...facilitator, supported } },
      { name: 'over HTTP', facilitator: remote },
    ],
    async stop() {
      await Promise.allSettled(late);
      await remote.close();
      await server.stop();
    },
  };
}

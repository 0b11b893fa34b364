/** One alert to one webhook: signed, to a public address that was looked at, without following anybody further. */
import { createHash } from 'node:crypto';
import { Agent } from 'undici';
import { connect } from '../outgoing/connect.ts';
import type { Alert } from '../store/alerts/alert-store.ts';
import { isTimeout } from '../timing.ts';
import { AddressRefused, guardedLookup, type Resolve, resolveAll, urlRefusal } from '../upstream/http/public-url.ts';

export interface Delivery {
  /** Why it was not taken, in words without the URL, or undefined where it was. Never throws. */
  deliver(alert: Pick<Alert, 'occurrence' | 'receiver' | 'body'>): Promise<string | undefined>;
  /** Gives up what is under way. */
  close(): Promise<void>;
}

export interface DeliveryOptions {
  /** `whsec_...`. */
  readonly secret: string;
  /** Receivers on this machine or in its network, and those without https. */
  readonly allowsPrivate: boolean;
  readonly resolve?: Resolve | undefined;
}

const DEADLINE_MS = 10_000;
/** An answer says yes or no: more of it is not read. */
const MOST_BYTES = 16_384;

/** The same however often it is sent. */
const webhookId = (occurrence: string): string =>
  `msg_${createHash('sha256').update(occurrence).digest('hex').slice(0, 32)}`;

/** The library is loaded only here: most gateways tell nobody. */
export async function openDelivery(options: DeliveryOptions): Promise<Delivery> {
  const { secret, allowsPrivate, resolve = resolveAll } = options;
  const { Webhook } = await import('standardwebhooks');
  const webhook = new Webhook(secret);
  const agent = new Agent({ connect: allowsPrivate ? connect : { lookup: guardedLookup(resolve) } });
  return {
    async deliver({ occurrence, receiver, body }) {
      const refusal = allowsPrivate ? undefined : urlRefusal(receiver);
      if (refusal !== undefined) return refusal;
      const { origin, pathname, search } = new URL(receiver);
      const id = webhookId(occurrence);
      const time = new Date();
      try {
        const answer = await agent.request({
          origin,
          path: pathname + search,
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'user-agent': 'turnpike',
            'webhook-id': id,
            'webhook-timestamp': String(Math.floor(time.getTime() / 1000)),
            'webhook-signature': webhook.sign(id, time, body),
          },
          body,
          signal: AbortSignal.timeout(DEADLINE_MS),
        });
        // Whether it was taken is known by now.
        await answer.body.dump({ limit: MOST_BYTES }).catch(() => undefined);
        return answer.statusCode >= 200 && answer.statusCode < 300 ? undefined : `answered ${answer.statusCode}`;
      } catch (error) {
        return faultOf(error);
      }
    },
    close: () => agent.destroy(),
  };
}

/** Errors of connections name addresses, which may hold what nobody else should read. */
function faultOf(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof AddressRefused) return cause.message;
    if (isTimeout(cause)) return `gave no answer in ${DEADLINE_MS / 1000} s`;
    if ('code' in cause && typeof cause.code === 'string' && /^[A-Z_]+$/.test(cause.code)) {
      const isOfName = 'syscall' in cause && /^query/.test(String(cause.syscall));
      return isOfName ? `failed: its name could not be looked up (${cause.code})` : `failed: ${cause.code}`;
    }
  }
  return 'could not be reached';
}

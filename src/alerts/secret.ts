/** What has to be right before anybody is told anything. */
import type { AlertsFile } from '../catalogue/types.ts';
import { urlRefusal } from '../upstream/http/public-url.ts';

export interface AlertConfig {
  /** Signs what webhooks are told: `whsec_` and base64. */
  readonly secret: string | undefined;
  /** Whether they may listen on this machine or in its network, and without https. */
  readonly allowsPrivate: boolean;
}

/** 24 to 64 bytes, as Standard Webhooks has it. */
const SECRET = /^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/;
const MAKE = `node -p "'whsec_' + crypto.randomBytes(32).toString('base64')"`;

/** What is wrong with `TURNPIKE_ALERT_SECRET`, or undefined. */
export const secretFault = (secret: string): string | undefined =>
  SECRET.test(secret) ? undefined : `TURNPIKE_ALERT_SECRET is not a secret of Standard Webhooks: make one with ${MAKE}`;

/** Why nobody can be told, for whoever set it up. */
export function alertProblems(settings: AlertsFile | undefined, { secret, allowsPrivate }: AlertConfig): string[] {
  if (!settings) return [];
  const refused = settings.webhooks.flatMap(({ url }) => {
    const parsed = URL.canParse(url) ? new URL(url) : undefined;
    // The rest of a webhook's address is often what opens it.
    const which = `${parsed ? `the webhook at ${parsed.host}` : 'a webhook'} in service.yaml`;
    // They would not be sent, and a receiver that asks for them would turn down every alert.
    if (parsed && parsed.username + parsed.password !== '') {
      return [`${which} must not carry a user name or password: what it is sent is known by its signature`];
    }
    const refusal = allowsPrivate ? undefined : urlRefusal(url);
    return refusal === undefined
      ? []
      : [`${which} ${refusal}: TURNPIKE_ALERT_PRIVATE=1 takes those inside your network`];
  });
  const missing = `TURNPIKE_ALERT_SECRET is missing: service.yaml has webhooks, and it signs what they are told; make one with ${MAKE}`;
  return secret === undefined ? [missing, ...refused] : refused;
}

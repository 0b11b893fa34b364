import type { SecurityFile } from '../catalogue/types.ts';

/** It is written anew at every start; RFC 9116 asks for less than a year. */
const GOOD_FOR_MS = 180 * 86_400_000;

/** `/.well-known/security.txt`: whom to tell of a weakness. `now` in milliseconds since the epoch. Source: RFC 9116. */
export function securityText({ contact, policy }: SecurityFile, publicUrl: string, now: number): string {
  const lines = [
    ...contact.map((address) => `Contact: ${address}`),
    `Expires: ${new Date(now + GOOD_FOR_MS).toISOString()}`,
    ...(policy === undefined ? [] : [`Policy: ${policy}`]),
    `Canonical: ${publicUrl}/.well-known/security.txt`,
  ];
  return `${lines.join('\n')}\n`;
}

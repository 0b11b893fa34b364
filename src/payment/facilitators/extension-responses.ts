/**
 * What a facilitator says of a payment's extensions, such as whether the Bazaar lists the endpoint: the header
 * `EXTENSION-RESPONSES`, base64 of JSON by extension. Source: x402 specification version 2, extension `bazaar`;
 * `@x402/core`, which logs the same fields.
 */
import { asJsonObject, isJsonObject } from '../../json.ts';
import type { Log } from '../../log.ts';
import { asText } from './json.ts';

const LONGEST_HEADER = 8_192;
const LONGEST_TEXT = 200;
const MOST_EXTENSIONS = 8;
/** Of what was told last; more than an operator sells. */
const MOST_KEPT = 2_000;

/** What may be a key or a signature: long, without a space, and not of letters alone. */
const withoutKeys = (text: string): string =>
  text.slice(0, LONGEST_TEXT).replace(/[\w+/=.~-]{32,}/g, (word) => (/\d/.test(word) ? '[...]' : word));

function read(header: unknown): Record<string, Record<string, string>> | undefined {
  if (typeof header !== 'string' || header.length > LONGEST_HEADER) return undefined;
  try {
    const decoded: unknown = JSON.parse(Buffer.from(header, 'base64').toString());
    if (!isJsonObject(decoded)) return undefined;
    return Object.fromEntries(
      Object.entries(decoded)
        .slice(0, MOST_EXTENSIONS)
        .map(([extension, said]) => {
          const { status, rejectedReason, reason, code } = asJsonObject(said);
          const fields = Object.entries({ status, rejectedReason, reason, code });
          const told = fields.flatMap(([name, value]) => {
            const text = asText(value);
            return text === undefined ? [] : [[name, withoutKeys(text)]];
          });
          return [withoutKeys(extension), Object.fromEntries(told)];
        }),
    );
  } catch {
    return undefined;
  }
}

/** Tells the log of what a facilitator says, for each endpoint and network when it says something else than before. */
export function openExtensionLog(log: Log | undefined, facilitator: string) {
  const last = new Map<string, string>();
  return (header: unknown, payload: object, requirements: object): void => {
    const extensions = log && read(header);
    if (!extensions) return;
    const network = asText(asJsonObject(requirements).network);
    const resource = asText(asJsonObject(asJsonObject(payload).resource).url);
    const key = `${network} ${resource}`;
    const text = JSON.stringify(extensions);
    if (last.get(key) === text) return;
    if (last.size >= MOST_KEPT) last.clear();
    last.set(key, text);
    const isRejected = Object.values(extensions).some(({ status }) => status === 'rejected');
    const details = { facilitator, network, resource, extensions };
    if (isRejected) log.warn(details, 'the facilitator did not take an extension, such as a listing');
    else log.info(details, 'what the facilitator says of extensions, such as a listing');
  };
}

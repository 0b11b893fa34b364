/** JSON that a stranger sent, held to a size that can be looked at before anybody's time is spent on it. */
import { Problem } from '../errors.ts';
import { isJsonObject } from '../json.ts';

/** Deeper than any schema that is sold, chat's tools included. */
const DEEPEST_JSON = 64;

/** A long conversation has some ten thousand; each one more costs every other caller a moment. */
const MOST_JSON_VALUES = 50_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
/** `{` and `[`, `}` and `]`: the same but for one bit. */
const OPEN = 0x5b;
const CLOSE = 0x5d;
const WITHOUT_CURL = 0xdf;

const utf8 = new TextDecoder('utf-8', { fatal: true });

const tooMuch = (message: string): Problem =>
  new Problem('invalid_request', `The body ${message}`, { details: [{ path: '/', message }] });

/** One walk over the bytes; what is not JSON at all is found by who parses it. Throws Problem `invalid_request`. */
function demandModest(bytes: Uint8Array): void {
  let depth = 0;
  let values = 1;
  let isText = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) isText = !isText;
    else if (isText) {
      if (byte === BACKSLASH) at += 1;
    } else if (byte === COMMA) values += 1;
    else if ((byte & WITHOUT_CURL) === OPEN) {
      depth += 1;
      if (depth > DEEPEST_JSON) throw tooMuch(`is nested more than ${DEEPEST_JSON} levels deep`);
    } else if ((byte & WITHOUT_CURL) === CLOSE) depth -= 1;
  }
  if (values > MOST_JSON_VALUES) throw tooMuch(`has more than ${MOST_JSON_VALUES} values`);
}

/**
 * A request's body as an object. Throws Problem `invalid_json` for what is not one, and `invalid_request` for one of
 * too many values or levels, before it is parsed.
 */
export function readJsonObject(bytes: Uint8Array): Record<string, unknown> {
  demandModest(bytes);
  let body: unknown;
  try {
    body = JSON.parse(utf8.decode(bytes));
  } catch {
    throw new Problem('invalid_json', 'The body is not valid JSON in UTF-8: send a JSON object');
  }
  if (!isJsonObject(body)) throw new Problem('invalid_json', 'The body must be a JSON object, such as {}');
  return body as Record<string, unknown>;
}

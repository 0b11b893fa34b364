/** A line of the log for people: `12:03:04.123 INFO  request route=image/family-e-2 status=200`. */
import { withoutControls } from './control-characters.ts';
import { isJsonObject, type JsonObject } from './json.ts';

const LEVELS: Readonly<Record<number, string>> = {
  10: 'TRACE',
  20: 'DEBUG',
  30: 'INFO',
  40: 'WARN',
  50: 'ERROR',
  60: 'FATAL',
};

/** Text that needs no quotes. What a provider or a stranger wrote must not move the terminal's cursor. */
const PLAIN = /^[\w.:/@+-]+$/;

/** JSON leaves the control characters beyond ASCII as they are. */
const shown = (value: unknown): string =>
  typeof value === 'string' && PLAIN.test(value) ? value : withoutControls(JSON.stringify(value) ?? 'undefined');

function stackOf({ err }: JsonObject): string {
  if (!isJsonObject(err)) return '';
  const lines = String(err.stack ?? err.message ?? '').split('\n');
  return lines.map((line) => `    ${withoutControls(JSON.stringify(line).slice(1, -1))}\n`).join('');
}

/** From one line of JSON, with its line break. */
export function readable(line: string): string {
  const { level, time, msg, ...fields }: JsonObject = JSON.parse(line);
  const at = new Date(Number(time)).toISOString().slice(11, 23);
  const said = Object.entries(fields).flatMap(([name, value]) => (name === 'err' ? [] : [`${name}=${shown(value)}`]));
  const message = withoutControls(JSON.stringify(msg ?? '').slice(1, -1));
  return `${at} ${(LEVELS[Number(level)] ?? '').padEnd(5)} ${[message, ...said].join(' ')}\n${stackOf(fields)}`;
}

import { isJsonObject, type JsonObject } from '../../json.ts';

/** What a payment says in an extension of x402: its `info`; undefined where there is none. */
export function infoIn({ extensions }: JsonObject, name: string): JsonObject | undefined {
  const extension = isJsonObject(extensions) ? extensions[name] : undefined;
  const info = isJsonObject(extension) ? extension.info : undefined;
  return isJsonObject(info) ? info : undefined;
}

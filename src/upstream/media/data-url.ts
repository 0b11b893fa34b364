/** Files that stand within a text (RFC 2397). */
const DATA_URL = /^data:[^,]{0,200};base64,(.*)$/s;

/** The base64 of a data URL; undefined where the text is none, or holds no base64. */
export const base64In = (text: string): string | undefined => DATA_URL.exec(text)?.[1];

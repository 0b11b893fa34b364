/** Text that a stranger or a provider wrote, on a terminal. */

/** What moves the cursor, ends a line or turns the direction of writing. */
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** Such characters are shown as JSON escapes them. */
export const withoutControls = (text: string): string =>
  text.replace(CONTROLS, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** The same of each line of a text. */
export const linesWithoutControls = (text: string): string => text.split('\n').map(withoutControls).join('\n');

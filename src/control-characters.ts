/** Text that a stranger or a provider wrote, on a terminal. */

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** What begins a line, moves the cursor or turns the direction of writing is shown as JSON escapes it. */
export const withoutControls = (text: string): string =>
  text.replace(CONTROLS, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** The same of each line of a text. */
export const linesWithoutControls = (text: string): string => text.split('\n').map(withoutControls).join('\n');

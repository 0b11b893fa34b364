/** One line, however long: agents read lines, not pages. */
export const paragraph = (...sentences: readonly string[]): string => sentences.join(' ');

/** Texts that quote other systems or people; a NUL in one must not keep the row from being written. */
export const withoutNul = (text: string): string => text.replaceAll('\0', '');

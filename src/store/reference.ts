/** What an operator names a top-up or a refund by, so that it is done once however often it is asked for. */
export const isReference = (text: string): boolean => /^[\x21-\x7e]{1,100}$/.test(text);

export const REFERENCE_TAKES = 'takes 1 to 100 printable characters of ASCII, without spaces';

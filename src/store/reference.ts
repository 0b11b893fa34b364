/** What an operator names a top-up or a refund by, so that it is done once however often it is asked for. */
export const isReference = (text: string): boolean => /^[\x21-\x7e]{1,100}$/.test(text);

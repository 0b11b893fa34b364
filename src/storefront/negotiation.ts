/**
 * Whether whoever asks would rather read a page: browsers name `text/html` itself, before anything else (RFC 9110,
 * 12.5.1). Programs name JSON, or take whatever comes.
 */
export const prefersPage = (accept: string | undefined): boolean =>
  accept !== undefined && /^\s*(text\/html|application\/xhtml\+xml)\b/i.test(accept);

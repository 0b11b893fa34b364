/** What a page may load and do: its own scripts and styles, and what was bought, from where media is kept. */

/** `mediaUrl`: where files that were bought are had, without a trailing slash. */
export function contentSecurityPolicy(mediaUrl: string): string {
  const media = new URL(mediaUrl).origin;
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    `img-src 'self' data: ${media}`,
    `media-src 'self' ${media}`,
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}

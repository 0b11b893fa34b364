/** Takes secrets out of text that goes to the log: providers like to quote the key they refuse. */
export function redact(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets) {
    if (secret === '') continue;
    clean = clean.replaceAll(secret, '[secret]').replaceAll(encodeURIComponent(secret), '[secret]');
  }
  return clean;
}

/** The start of an answer, on one line, without secrets. */
export function snippet(body: Buffer, secrets: readonly string[]): string {
  // Redacted before it is cut, so that no secret is cut in two and missed.
  return redact(body.subarray(0, 16_384).toString('utf8'), secrets).replaceAll(/\s+/g, ' ').trim();
}

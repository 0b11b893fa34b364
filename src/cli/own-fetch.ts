/**
 * Loads Node's own fetch before the npm undici, which would otherwise take its place and refuse the content-length that
 * @solana/kit sends. Must be the first import of a command that pays.
 */
globalThis.Response.name;

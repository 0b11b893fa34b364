/**
 * Loads Node's own fetch before the npm undici, which would otherwise carry the fetches of the clients under test and
 * refuse the content-length of @solana/kit. Must be the first import of a test.
 */
globalThis.Response.name;

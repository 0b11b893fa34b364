/**
 * Loads Node's own fetch before the npm undici, which would otherwise carry the fetches of the clients under test and
 * refuse the content-length of @solana/kit. To be imported before everything else.
 */
globalThis.Response.name;

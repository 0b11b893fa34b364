/** Kept by a form, so that what it asks for is done once, however often it is sent. */
export const newReference = (): string =>
  // `randomUUID` is there on secure pages alone, and this one may be read at an address of a private network.
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');

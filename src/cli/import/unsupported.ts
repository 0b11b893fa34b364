/** An operation that cannot be sold through the adapter `http`; the message says why. */
export class Unsupported extends Error {}

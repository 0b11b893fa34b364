/** What is allocated first for a body of several pieces. */
const FIRST_BYTES = 16_384;

/**
 * One piece of memory for all that comes. A piece of a body is a view of the network's whole buffer, and keeping a
 * thousand small pieces would keep a thousand of those.
 */
export class GrowingBytes {
  readonly #most: number;
  #bytes: Buffer | undefined;
  #isOwn = false;
  size = 0;

  /** Of a body of so many bytes at most; Infinity: nobody knows. */
  constructor(most: number) {
    this.#most = most;
  }

  add(piece: Buffer): void {
    const size = this.size + piece.length;
    if (this.#bytes === undefined) {
      this.#bytes = piece;
    } else {
      if (!this.#isOwn || size > this.#bytes.length) this.#grow(size);
      this.#bytes.set(piece, this.size);
    }
    this.size = size;
  }

  /** What it takes, in bytes. */
  get memory(): number {
    return this.#bytes?.length ?? 0;
  }

  /** A body in one piece, as most are, is never copied. */
  read(): Buffer {
    return this.#bytes?.subarray(0, this.size) ?? Buffer.alloc(0);
  }

  #grow(size: number): void {
    const ahead = Math.min(Math.max(FIRST_BYTES, size * 2), this.#most);
    const larger = Buffer.allocUnsafeSlow(Math.max(size, ahead));
    if (this.#bytes) larger.set(this.#bytes.subarray(0, this.size));
    this.#bytes = larger;
    this.#isOwn = true;
  }
}

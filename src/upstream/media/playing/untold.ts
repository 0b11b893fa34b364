/** A file does not tell how long it may play: in a codec that is not read here, or broken. */
export class Untold extends Error {
  override readonly name = 'Untold';
}

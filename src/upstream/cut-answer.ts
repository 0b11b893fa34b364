/**
 * The text of an answer that bounds of the gateway's own have ended once its beginning was passed on. That cannot be taken back, so
 * it is what is sold, whatever the result schema asks of a whole answer.
 */
export class CutAnswer {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

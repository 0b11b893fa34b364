/** A promise that did not hold, and how to see it again. */
export class Violation extends Error {
  readonly reproduction: string;

  constructor(what: string, reproduction: string) {
    super(what);
    this.name = 'Violation';
    this.reproduction = reproduction;
  }
}

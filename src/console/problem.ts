/** What the console cannot do, in words for the operator; `field` names what was given wrong. */
export class ConsoleProblem extends Error {
  readonly status: number;
  readonly field: string | undefined;
  constructor(status: number, message: string, field?: string) {
    super(message);
    this.name = 'ConsoleProblem';
    this.status = status;
    this.field = field;
  }
}

export const wrongField = (field: string, message: string): ConsoleProblem =>
  new ConsoleProblem(400, `${field} ${message}`, field);

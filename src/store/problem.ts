/** The database cannot be used. The message says which, and holds no password. */
export class StoreProblem extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StoreProblem';
  }
}
